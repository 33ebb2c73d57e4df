"""An independent Modbus server: pymodbus (Debian's python3-pymodbus 3.0.0).

usage: peer.py tcp PORT | rtutcp PORT | rtu DEVICE

Units 1 to 3 have 300 coils (off), 300 holding registers (0) and 300 input
registers holding 7. Anything beyond answers exception 02, other units nothing.
"""
import sys
from pymodbus.datastore import ModbusSlaveContext, ModbusServerContext, ModbusSequentialDataBlock
from pymodbus.server import StartTcpServer, StartSerialServer
from pymodbus.transaction import ModbusRtuFramer


def unit():
    return ModbusSlaveContext(
        di=ModbusSequentialDataBlock(0, [0] * 300), co=ModbusSequentialDataBlock(0, [0] * 300),
        hr=ModbusSequentialDataBlock(0, [0] * 300), ir=ModbusSequentialDataBlock(0, [7] * 300), zero_mode=True)


context = ModbusServerContext(slaves={1: unit(), 2: unit(), 3: unit()}, single=False)
kind, where = sys.argv[1:3]
if kind == "tcp":
    StartTcpServer(context=context, address=("127.0.0.1", int(where)))
elif kind == "rtutcp":
    StartTcpServer(context=context, address=("127.0.0.1", int(where)), framer=ModbusRtuFramer)
else:
    StartSerialServer(context=context, framer=ModbusRtuFramer, port=where, baudrate=19200, parity="N", stopbits=1)
