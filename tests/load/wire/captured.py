"""What real servers answered: taken off a socket of ours, each reply to the request that it is named after.

Where several requests were sent the replies stand one after the other. `expected` is (count, whether it is an error) of each.
"""

from __future__ import annotations

from typing import NamedTuple

from storeproof.load.wire.request import WireProtocol


class Captured(NamedTuple):
    """The replies to one request, or to some."""

    asked: str
    data: bytes
    expected: list[tuple[int, bool]]


CAPTURES: dict[WireProtocol, list[Captured]] = {
    "resp": [  # Redis 7.0.15
        Captured("SET", bytes.fromhex("2b4f4b0d0a"), [(1, False)]),
        Captured("GET", bytes.fromhex("24330d0a6162630d0a"), [(1, False)]),
        Captured("GET missing", bytes.fromhex("242d310d0a"), [(0, False)]),
        Captured("HSET two fields", bytes.fromhex("3a320d0a"), [(2, False)]),
        Captured("HGETALL", bytes.fromhex("2a340d0a24310d0a610d0a24310d0a310d0a24310d0a620d0a24310d0a320d0a"), [(4, False)]),
        Captured("HGETALL missing", bytes.fromhex("2a300d0a"), [(0, False)]),
        Captured("MGET with a hole", bytes.fromhex("2a320d0a24330d0a6162630d0a242d310d0a"), [(1, False)]),
        Captured("DEL", bytes.fromhex("3a310d0a"), [(1, False)]),
        Captured("DEL missing", bytes.fromhex("3a300d0a"), [(0, False)]),
        Captured(
            "GET of a hash",
            bytes.fromhex(
                "2d57524f4e4754595045204f7065726174696f6e20616761696e73742061206b657920686f6c64696e67207468652077726f6e67206b696e6420"
                "6f662076616c75650d0a"
            ),
            [(0, True)],
        ),
        Captured(
            "MULTI, SET, EXEC",
            bytes.fromhex(
                "2b4f4b0d0a2b5155455545440d0a2b5155455545440d0a2a320d0a2b4f4b0d0a2d57524f4e4754595045204f7065726174696f6e20616761696e"
                "73742061206b657920686f6c64696e67207468652077726f6e67206b696e64206f662076616c75650d0a"
            ),
            [(1, False), (1, False), (1, False), (0, True)],
        ),
        Captured("HGETALL of RESP3", bytes.fromhex("25320d0a24310d0a610d0a24310d0a310d0a24310d0a620d0a24310d0a320d0a"), [(2, False)]),
        Captured("GET missing of RESP3", bytes.fromhex("5f0d0a"), [(0, False)]),
        Captured("ZSCORE of RESP3", bytes.fromhex("3a310d0a2c312e350d0a"), [(1, False), (1, False)]),
        Captured("SMEMBERS of RESP3", bytes.fromhex("3a310d0a7e310d0a24310d0a6d0d0a"), [(1, False), (1, False)]),
    ],
    "memcached": [  # Memcached 1.6.18
        Captured("set", bytes.fromhex("53544f5245440d0a"), [(1, False)]),
        Captured("get", bytes.fromhex("56414c5545206b203020330d0a6162630d0a454e440d0a"), [(1, False)]),
        Captured("get missing", bytes.fromhex("454e440d0a"), [(0, False)]),
        Captured("gets", bytes.fromhex("56414c5545206b2030203320310d0a6162630d0a454e440d0a"), [(1, False)]),
        Captured(
            "get of two",
            bytes.fromhex("53544f5245440d0a56414c5545206b203020330d0a6162630d0a56414c5545206c203520300d0a0d0a454e440d0a"),
            [(1, False), (2, False)],
        ),
        Captured("add", bytes.fromhex("4e4f545f53544f5245440d0a"), [(0, False)]),
        Captured("cas", bytes.fromhex("4558495354530d0a"), [(0, False)]),
        Captured("replace missing", bytes.fromhex("4e4f545f53544f5245440d0a"), [(0, False)]),
        Captured("delete", bytes.fromhex("44454c455445440d0a"), [(1, False)]),
        Captured("delete missing", bytes.fromhex("4e4f545f464f554e440d0a"), [(0, False)]),
        Captured("incr", bytes.fromhex("53544f5245440d0a31350d0a"), [(1, False), (1, False)]),
        Captured("decr", bytes.fromhex("350d0a"), [(1, False)]),
        Captured("touch", bytes.fromhex("544f55434845440d0a"), [(1, False)]),
        Captured("nonsense", bytes.fromhex("4552524f520d0a"), [(0, True)]),
        Captured(
            "too large", bytes.fromhex("5345525645525f4552524f52206f626a65637420746f6f206c6172676520666f722063616368650d0a"), [(0, True)]
        ),
        Captured(
            "incr of no number",
            bytes.fromhex(
                "53544f5245440d0a434c49454e545f4552524f522063616e6e6f7420696e6372656d656e74206f722064656372656d656e74206e6f6e2d6e756d"
                "657269632076616c75650d0a"
            ),
            [(1, False), (0, True)],
        ),
        Captured("flush_all", bytes.fromhex("4f4b0d0a"), [(1, False)]),
    ],
    "mongo": [  # MongoDB 6.0.5
        Captured(
            "insert",
            bytes.fromhex("2d0000000400000002000000dd070000000000000018000000106e0003000000016f6b00000000000000f03f00"),
            [(3, False)],
        ),
        Captured(
            "insert again",
            bytes.fromhex(
                "e50000000500000003000000dd0700000000000000d0000000106e00000000000477726974654572726f727300ab000000033000a30000001069"
                "6e646578000000000010636f646500f82a0000026572726d7367004b000000453131303030206475706c6963617465206b6579206572726f7220"
                "636f6c6c656374696f6e3a20742e6320696e6465783a205f69645f20647570206b65793a207b205f69643a2030207d00036b6579506174746572"
                "6e000e000000105f6964000100000000036b657956616c7565000e000000105f69640000000000000000016f6b00000000000000f03f00"
            ),
            [(0, True)],
        ),
        Captured(
            "find",
            bytes.fromhex(
                "7a0000000600000004000000dd07000000000000006500000003637572736f72004c000000046669727374426174636800230000000330001b00"
                "0000105f69640001000000026100060000007878787878000000126964000000000000000000026e730004000000742e630000016f6b00000000"
                "000000f03f00"
            ),
            [(1, False)],
        ),
        Captured(
            "find missing",
            bytes.fromhex(
                "5c0000000700000005000000dd07000000000000004700000003637572736f72002e000000046669727374426174636800050000000012696400"
                "0000000000000000026e730004000000742e630000016f6b00000000000000f03f00"
            ),
            [(0, False)],
        ),
        Captured(
            "find all",
            bytes.fromhex(
                "b60000000800000006000000dd0700000000000000a100000003637572736f7200880000000466697273744261746368005f0000000330001b00"
                "0000105f6964000000000002610006000000787878787800000331001b000000105f696400010000000261000600000078787878780000033200"
                "1b000000105f69640002000000026100060000007878787878000000126964000000000000000000026e730004000000742e630000016f6b0000"
                "0000000000f03f00"
            ),
            [(3, False)],
        ),
        Captured(
            "update",
            bytes.fromhex(
                "3c0000000900000007000000dd070000000000000027000000106e0001000000106e4d6f6469666965640001000000016f6b00000000000000f03f00"
            ),
            [(1, False)],
        ),
        Captured(
            "update missing",
            bytes.fromhex(
                "3c0000000a00000008000000dd070000000000000027000000106e0000000000106e4d6f6469666965640000000000016f6b00000000000000f03f00"
            ),
            [(0, False)],
        ),
        Captured(
            "update the same",
            bytes.fromhex(
                "3c0000000b00000009000000dd070000000000000027000000106e0001000000106e4d6f6469666965640000000000016f6b00000000000000f03f00"
            ),
            [(1, False)],
        ),
        Captured(
            "replace or insert",
            bytes.fromhex(
                "670000000c0000000a000000dd070000000000000052000000106e000100000004757073657274656400210000000330001900000010696e6465"
                "780000000000105f696400070000000000106e4d6f6469666965640000000000016f6b00000000000000f03f00"
            ),
            [(1, False)],
        ),
        Captured(
            "delete",
            bytes.fromhex("2d0000000d0000000b000000dd070000000000000018000000106e0001000000016f6b00000000000000f03f00"),
            [(1, False)],
        ),
        Captured(
            "delete missing",
            bytes.fromhex("2d0000000e0000000c000000dd070000000000000018000000106e0000000000016f6b00000000000000f03f00"),
            [(0, False)],
        ),
        Captured("ping", bytes.fromhex("260000000f0000000d000000dd070000000000000011000000016f6b00000000000000f03f00"), [(1, False)]),
        Captured(
            "no such command",
            bytes.fromhex(
                "76000000100000000e000000dd070000000000000061000000016f6b000000000000000000026572726d7367001c0000006e6f20737563682063"
                "6f6d6d616e643a20276e6f6e73656e7365270010636f6465003b00000002636f64654e616d650010000000436f6d6d616e644e6f74466f756e64"
                "0000"
            ),
            [(0, True)],
        ),
    ],
    "iproto": [  # Tarantool 2.6.0-0-g47aa4e01e
        Captured(
            "replace", bytes.fromhex("ce000000248300ce0000000001cf000000000000000105ce000000508130dd000000019201a3616263"), [(1, False)]
        ),
        Captured(
            "select", bytes.fromhex("ce000000248300ce0000000001cf000000000000000205ce000000508130dd000000019201a3616263"), [(1, False)]
        ),
        Captured("select missing", bytes.fromhex("ce0000001e8300ce0000000001cf000000000000000305ce000000508130dd00000000"), [(0, False)]),
        Captured(
            "insert again",
            bytes.fromhex(
                "ce000000ba8300ce0000800301cf000000000000000405ce000000508231d9354475706c6963617465206b65792065786973747320696e20756e"
                "6971756520696e6465782027702720696e20737061636520277427528100918600ab436c69656e744572726f7202cd024101b62e2f7372632f62"
                "6f782f6d656d74785f747265652e6303d9354475706c6963617465206b65792065786973747320696e20756e6971756520696e64657820277027"
                "20696e2073706163652027742704000503"
            ),
            [(0, True)],
        ),
        Captured("update", bytes.fromhex("ce000000228300ce0000000001cf000000000000000505ce000000508130dd000000019201a179"), [(1, False)]),
        Captured("update missing", bytes.fromhex("ce0000001e8300ce0000000001cf000000000000000605ce000000508130dd00000000"), [(0, False)]),
        Captured("delete", bytes.fromhex("ce000000228300ce0000000001cf000000000000000705ce000000508130dd000000019201a179"), [(1, False)]),
        Captured("delete missing", bytes.fromhex("ce0000001e8300ce0000000001cf000000000000000805ce000000508130dd00000000"), [(0, False)]),
        Captured("ping", bytes.fromhex("ce000000188300ce0000000001cf000000000000000905ce0000005080"), [(0, False)]),
        Captured("eval", bytes.fromhex("ce000000238300ce0000000001cf000000000000000a05ce000000508130dd000000020181a16102"), [(2, False)]),
        Captured(
            "eval that fails",
            bytes.fromhex(
                "ce0000005d8300ce0000802001cf000000000000000b05ce000000508231aa6576616c3a313a206e6f528100918600ab4c75616a69744572726f"
                "7202cd03ed01b12e2f7372632f6c75612f7574696c732e6303aa6576616c3a313a206e6f04000520"
            ),
            [(0, True)],
        ),
    ],
    "mysql": [  # MariaDB 10.11.19-MariaDB-0+deb12u1
        Captured(
            "EOF: insert",
            bytes.fromhex("2e00000100030002000000265265636f7264733a203320204475706c6963617465733a203020205761726e696e67733a2030"),
            [(3, False)],
        ),
        Captured(
            "EOF: insert again",
            bytes.fromhex("2e000001ff26042332333030304475706c696361746520656e7472792027312720666f72206b657920275052494d41525927"),
            [(0, True)],
        ),
        Captured(
            "EOF: select",
            bytes.fromhex(
                "01000001021b00000203646566017401720172016b016b0c3f000b0000000303500000001b00000303646566017401720172017601760c2d008c"
                "010000fd000000000005000004fe0000220006000005013103616263030000060132fb0300000701330005000008fe00002200"
            ),
            [(3, False)],
        ),
        Captured(
            "EOF: select missing",
            bytes.fromhex("01000001011b00000203646566017401720172017601760c2d008c010000fd000000000005000003fe0000020005000004fe00000200"),
            [(0, False)],
        ),
        Captured("EOF: insert or update", bytes.fromhex("0700000100020002000000"), [(2, False)]),
        Captured(
            "EOF: update missing",
            bytes.fromhex("300000010000000200000028526f7773206d6174636865643a203020204368616e6765643a203020205761726e696e67733a2030"),
            [(0, False)],
        ),
        Captured(
            "EOF: prepared select",
            bytes.fromhex(
                "01000001011b00000203646566017401720172017601760c2d008c010000fd000000000005000003fe00000200040000040000017905000005fe"
                "00000200"
            ),
            [(1, False)],
        ),
        Captured(
            "EOF: prepared select missing",
            bytes.fromhex("01000001011b00000203646566017401720172017601760c2d008c010000fd000000000005000003fe0000020005000004fe00000200"),
            [(0, False)],
        ),
        Captured("EOF: prepared delete", bytes.fromhex("0700000100010002000000"), [(1, False)]),
        Captured(
            "EOF: two statements",
            bytes.fromhex(
                "070000010001000a00000001000002011b00000303646566017401720172016b016b0c3f000b00000003035000000005000004fe000022000200"
                "0005013202000006013805000007fe00002200"
            ),
            [(3, False)],
        ),
        Captured(
            "EOF: two statements, the second wrong",
            bytes.fromhex(
                "300000010001000a00000028526f7773206d6174636865643a203120204368616e6765643a203120205761726e696e67733a20302e000002ff1e"
                "04233432533232556e6b6e6f776e20636f6c756d6e20276e6f6e73656e73652720696e202753454c45435427"
            ),
            [(0, True)],
        ),
        Captured(
            "EOF: wrong",
            bytes.fromhex(
                "a5000001ff2804233432303030596f75206861766520616e206572726f7220696e20796f75722053514c2073796e7461783b20636865636b2074"
                "6865206d616e75616c207468617420636f72726573706f6e647320746f20796f7572204d617269614442207365727665722076657273696f6e20"
                "666f72207468652072696768742073796e74617820746f20757365206e65617220276e6f6e73656e736527206174206c696e652031"
            ),
            [(0, True)],
        ),
        Captured(
            "without EOF: select",
            bytes.fromhex(
                "01000001021b00000203646566017401720172016b016b0c3f000b0000000303500000001b00000303646566017401720172017601760c2d008c"
                "010000fd000000000006000004013103616263030000050132fb0300000601330007000007fe000022000000"
            ),
            [(3, False)],
        ),
        Captured(
            "without EOF: select missing",
            bytes.fromhex("01000001011b00000203646566017401720172017601760c2d008c010000fd000000000007000003fe000002000000"),
            [(0, False)],
        ),
        Captured(
            "without EOF: prepared select",
            bytes.fromhex("01000001011b00000203646566017401720172017601760c2d008c010000fd0000000000040000030000017907000004fe000002000000"),
            [(1, False)],
        ),
        Captured(
            "without EOF: prepared select missing",
            bytes.fromhex("01000001011b00000203646566017401720172017601760c2d008c010000fd000000000007000003fe000002000000"),
            [(0, False)],
        ),
        Captured(
            "without EOF: two statements",
            bytes.fromhex(
                "070000010001000a00000001000002011b00000303646566017401720172016b016b0c3f000b0000000303500000000200000401320200000501"
                "3807000006fe000022000000"
            ),
            [(3, False)],
        ),
    ],
    "postgres": [  # PostgreSQL 15.18
        Captured("insert", bytes.fromhex("430000000f494e5345525420302032005a0000000549"), [(2, False)]),
        Captured(
            "insert again",
            bytes.fromhex(
                "45000000a7534552524f5200564552524f5200433233353035004d6475706c6963617465206b65792076616c75652076696f6c6174657320756e"
                "6971756520636f6e73747261696e742022725f706b65792200444b657920286b293d28312920616c7265616479206578697374732e0073707562"
                "6c6963007472006e725f706b657900466e6274696e736572742e63004c36363400525f62745f636865636b5f756e6971756500005a0000000549"
            ),
            [(0, True)],
        ),
        Captured(
            "select",
            bytes.fromhex(
                "540000002e00026b00000040000001000000170004ffffffff0000760000004000000200000019ffffffffffff00004400000012000200000001"
                "3100000003616263440000000f00020000000132ffffffff430000000d53454c4543542032005a0000000549"
            ),
            [(2, False)],
        ),
        Captured(
            "select missing",
            bytes.fromhex(
                "540000002e00026b00000040000001000000170004ffffffff0000760000004000000200000019ffffffffffff0000430000000d53454c454354"
                "2030005a0000000549"
            ),
            [(0, False)],
        ),
        Captured("update missing", bytes.fromhex("430000000d5550444154452030005a0000000549"), [(0, False)]),
        Captured(
            "prepared select",
            bytes.fromhex(
                "31000000043200000004540000001a0001760000004000000200000019ffffffffffff0001440000000d000100000003616263430000000d5345"
                "4c4543542031005a0000000549"
            ),
            [(1, False)],
        ),
        Captured("prepared update", bytes.fromhex("310000000432000000046e00000004430000000d5550444154452031005a0000000549"), [(1, False)]),
        Captured(
            "prepared select missing",
            bytes.fromhex(
                "31000000043200000004540000001a0001760000004000000200000019ffffffffffff0001430000000d53454c4543542030005a0000000549"
            ),
            [(0, False)],
        ),
        Captured(
            "insert and return",
            bytes.fromhex(
                "31000000043200000004540000001a00016b00000040000001000000170004ffffffff0001440000000e00010000000400000005430000000f49"
                "4e5345525420302031005a0000000549"
            ),
            [(1, False)],
        ),
        Captured(
            "three statements",
            bytes.fromhex("430000000a424547494e00430000000d555044415445203200430000000b434f4d4d4954005a0000000549"),
            [(2, False)],
        ),
        Captured(
            "with a notice",
            bytes.fromhex(
                "4e00000072534e4f5449434500564e4f5449434500433030303030004d7461626c6520226e6f7468696e672220646f6573206e6f742065786973"
                "742c20736b697070696e6700467461626c65636d64732e63004c31333130005244726f704572726f724d73674e6f6e4578697374656e74000043"
                "0000000f44524f50205441424c45005a0000000549"
            ),
            [(0, False)],
        ),
        Captured(
            "wrong",
            bytes.fromhex(
                "450000006b534552524f5200564552524f5200433432373033004d636f6c756d6e20226e6f6e73656e73652220646f6573206e6f742065786973"
                "74005038004670617273655f72656c6174696f6e2e63004c3336363500526572726f724d697373696e67436f6c756d6e00005a0000000549"
            ),
            [(0, True)],
        ),
        Captured("empty", bytes.fromhex("49000000045a0000000549"), [(0, False)]),
    ],
}

"""By protocol, with the server and its version."""

PUSHED = bytes.fromhex(
    "ce000000248300ce0000008001cf000000000000000c05ce000000508130dd00000001a568656c6c6fce0000001f8300ce0000000001cf000000"
    "000000000c05ce000000508130dd0000000101"
)
"""What Tarantool sends where a function calls `box.session.push`: a message before the reply."""
