// The macros of X11 (X.h, Xlib.h, Xutil.h), Qt and glib that are words or names of types. Their headers need not be
// there.
#define None 0L
#define Status int
#define Bool int
#define True 1
#define False 0
#define Success 0
#define Always 2
#define Above 0
#define Below 1
#define Complex 0
#define Convex 2
#define Nonconvex 1
#define Expose 12
#define Unsorted 0
#define GrayScale 1
#define StaticColor 2
#define CursorShape 0
#define TileShape 1
#define StippleShape 2
#define FocusIn 9
#define KeyPress 2
#define CurrentTime 0L
#define AllValues 0x000F
#define NoValue 0x0000
#define slots
#define signals public
#define emit
#define foreach(variable, container) for (variable : container)
#define forever for (;;)
#define TRUE 1
#define FALSE 0
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#define MAX(a, b) (((a) > (b)) ? (a) : (b))
#define ABS(a) (((a) < 0) ? -(a) : (a))
#define CLAMP(x, low, high) (((x) > (high)) ? (high) : (((x) < (low)) ? (low) : (x)))
