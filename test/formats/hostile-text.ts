import fc from 'fast-check'

/** Pieces that mail programs are known to mishandle. */
const PIECES = [
  ...['', ' ', '  ', '\t', ' \t ', '.', '..', '=', '=3D', '=\u00a0', '_', '?=', '--', '--=_0_'],
  ...[
    '=?utf-8?',
    '=?utf-8?Q?caf=C3=A9?=',
    '=?UTF-8?B?Zm9v?=',
    '"',
    '\\',
    '\\"',
    '<',
    '>',
    ',',
    ';',
  ],
  ...['From ', '>From ', '(', ')', ':', '@', 'a@evil.example', "'", '%41', "UTF-8''x", 'é', 'ß'],
  ...['\u0085', '\u2028', '\u2029', '\ufeff', '\u200b', '\u00ad', '\u00a0', '\u0301', '\u202e'],
  ...[
    'שלום',
    'مرحبا',
    '你好',
    'привет',
    '😀',
    '👨‍👩‍👧‍👦',
    '🇩🇪',
    '\u{10ffff}',
    '\u0001',
    '\u007f',
    '\u000b',
    '\u000c',
  ],
  ...[
    'word',
    'x'.repeat(80),
    'é'.repeat(90),
    '😀'.repeat(60),
    'w'.repeat(1100),
    ' word'.repeat(30),
  ],
]
const LINE_BREAKS = [
  '\r\n',
  '\n',
  '\r',
  '\n\n',
  '\r\r\n',
  '\n\r',
  '\r\n.\r\n',
  '\n.\n',
  '\r.\r',
  ' \n',
  '\t\r',
  '\0',
]

function joined(parts: readonly string[], size: number): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...parts) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
    { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
  )
  return fc.array(piece, { maxLength: size }).map((texts) => texts.join(''))
}

/** Text of one line: no CR, LF or NUL. */
export const hostileLine = joined(PIECES, 10).map((text) => text.replace(/[\r\n\0]/g, ''))

/** Text of many lines with all kinds of line ends. */
export const hostileBody = joined([...PIECES, ...LINE_BREAKS, ...LINE_BREAKS], 30)
