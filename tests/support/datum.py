"""Caffe's message Datum, by protobuf."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def datum_class():
    """caffe.proto's message."""
    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe")
    message = file.message_type.add(name="Datum")
    field = descriptor_pb2.FieldDescriptorProto
    for name, number, kind in (("channels", 1, field.TYPE_INT32), ("height", 2, field.TYPE_INT32), ("width", 3, field.TYPE_INT32),
                               ("data", 4, field.TYPE_BYTES), ("label", 5, field.TYPE_INT32), ("encoded", 7, field.TYPE_BOOL)):
        message.field.add(name=name, number=number, type=kind, label=field.LABEL_OPTIONAL)
    message.field.add(name="float_data", number=6, type=field.TYPE_FLOAT, label=field.LABEL_REPEATED)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.Datum"))
