"""An independent Modbus server with the register maps of real devices: pymodbus
(Debian's python3-pymodbus 3.0.0).

usage: server.py tcp PORT WINDOW | rtutcp PORT WINDOW | rtu DEVICE WINDOW

WINDOW is a second TCP port, through which a test reads what the units hold.
Unit 1 is a Wiren Board WB-MDM3, unit 2 a Waveshare relay board, unit 3 a WB-LED in
mode RGB+W, unit 4 a WB-LED with two tunable whites, unit 5 a WB-MAO4, unit 6 a
WB-MR6C. All registers are plain memory but one: writing a level of the dimmers
shows in the register that is read, and switches the output.
"""
import asyncio
import sys

from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.server.async_io import ModbusSerialServer, ModbusTcpServer
from pymodbus.transaction import ModbusRtuFramer, ModbusSocketFramer


class Levels(ModbusSequentialDataBlock):
    """Holding registers of a dimmer: count levels, written at one address and read
    at another, each with a coil."""

    def __init__(self, written, read, coil, count, coils):
        super().__init__(0, [0] * 5000)
        self.written, self.read, self.coil, self.count, self.coils = written, read, coil, count, coils

    def setValues(self, address, values):
        super().setValues(address, values)
        for i, level in enumerate(values if isinstance(values, list) else [values]):
            output = address + i - self.written
            if 0 <= output < self.count:
                super().setValues(self.read + output, [level])
                self.coils.setValues(self.coil + output, [level > 0])


def unit(levels=None):
    coils = ModbusSequentialDataBlock(0, [False] * 5000)
    holding = Levels(*levels, coils) if levels else ModbusSequentialDataBlock(0, [0] * 5000)
    return ModbusSlaveContext(
        di=ModbusSequentialDataBlock(0, [False] * 5000), co=coils,
        hr=holding, ir=ModbusSequentialDataBlock(0, [0] * 5000), zero_mode=True)


units = {n: unit() for n in range(1, 7)}
units[1] = unit((4, 0, 0, 3))
units[5] = unit((20, 16, 16, 4))
units[3].setValues(3, 4000, [256])
units[4].setValues(3, 4000, [34])
context = ModbusServerContext(slaves=units, single=False)


async def main(kind, where, window):
    serving = [ModbusTcpServer(context, ModbusSocketFramer, address=("127.0.0.1", int(window))).serve_forever()]
    if kind == "tcp":
        serving.append(ModbusTcpServer(context, ModbusSocketFramer, address=("127.0.0.1", int(where))).serve_forever())
    elif kind == "rtutcp":
        serving.append(ModbusTcpServer(context, ModbusRtuFramer, address=("127.0.0.1", int(where))).serve_forever())
    else:
        line = ModbusSerialServer(context, ModbusRtuFramer, port=where, baudrate=19200, parity="N", stopbits=2)
        await line.start()
        serving.append(line.serve_forever())
    await asyncio.gather(*serving)


asyncio.run(main(*sys.argv[1:4]))
