// A definition without inline, as in a header that forgot it.
int forgotten() { return 0; }
