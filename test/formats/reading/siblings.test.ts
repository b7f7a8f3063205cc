/** Messages of every kind that readers take wrongly: each says the right thing on each way in. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readIncoming } from '../../../src/formats/incoming/read-message.ts'
import { composeRequest, composeSubmitted, seeReceived, submit } from './ways.ts'

type Expected = { subject?: string; name?: string | null; words: string; warning?: RegExp }

const plain = (charset: string, body: string) => [
  `Content-Type: text/plain; charset=${charset}`,
  '',
  body,
]
const octets = (...codes: number[]) => String.fromCharCode(...codes)
const b64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
/** 日本 after a designation of ISO-2022-JP; 中文 in GBK. */
const NIHON = '\x1b$BF|K\\'
const GBK = octets(0xd6, 0xd0, 0xce, 0xc4)
/** あえがぜだ, whose octets are `$"$($,$<$@`. */
const KANA = '\x1b$B$"$($,$<$@\x1b(B'
/** 中文 in HZ (RFC 1843) and in ISO-2022-CN (RFC 1922), 한글 in ISO-2022-KR (RFC 1557). */
const HZ = '~{VPND~}'
const CN = '\x1b$)A\x0eVPND\x0f'
const KR = '\x1b$)C\x0eGQ1[\x0f'

const table: [title: string, lines: string[], expected: Expected][] = [
  ['ISO-2022-JP', plain('iso-2022-jp', `${NIHON}\x1b(B`), { words: '日本' }],
  [
    'ISO-2022-JP with a designation that nothing follows',
    plain('ISO-2022-JP', `${NIHON}\x1b(B${NIHON}\x1b(B`),
    { words: '日本日本' },
  ],
  [
    'unlabelled ISO-2022-JP',
    ['', `${NIHON}\x1b(B`],
    { words: '日本', warning: /^Text:.*iso-2022-jp/ },
  ],
  [
    'damaged ISO-2022-JP',
    plain('iso-2022-jp', `${NIHON}\x7f\x1b(B x`),
    { words: '日本\ufffd x', warning: /^Text: 1 place was not valid iso-2022-jp/ },
  ],
  ['HZ', plain('HZ-GB-2312', `${HZ} ~~ a~\r\n${HZ} ~x`), { words: '中文 ~ a中文 ~x' }],
  [
    'damaged HZ',
    plain('hz', '~{VPN\r\nx'),
    { words: '中\ufffd x', warning: /^Text: 1 place was not valid hz-gb-2312/ },
  ],
  [
    'HTML that declares HZ itself',
    ['Content-Type: text/html', '', `<meta charset="hz-gb-2312"><p>${HZ}</p>`],
    { words: '中文', warning: /^HTML:.*hz-gb-2312/ },
  ],
  [
    'ISO-2022-KR',
    plain('iso-2022-kr', `\x1b$)C\r\n\x0eGQ 1[\x0f x\r\n\x0eGQ`),
    { words: '한 글 x 한' },
  ],
  ['unlabelled ISO-2022-KR', ['', KR], { words: '한글', warning: /^Text:.*iso-2022-kr/ }],
  ['ISO-2022-CN', plain('ISO-2022-CN', `${CN} x`), { words: '中文 x' }],
  [
    'ISO-2022-CN in characters of another set',
    plain('iso-2022-cn-ext', `${CN}\x1b$)G\x0eDc\x0f \x1b$*H\x1bNaa`),
    { words: '中文\ufffd \ufffd', warning: /^Text: 2 places were not valid iso-2022-cn/ },
  ],
  ['unlabelled ISO-2022-CN', ['', CN], { words: '中文', warning: /^Text:.*iso-2022-cn/ }],
  ['GBK', plain('gbk', GBK), { words: '中文' }],
  ['GBK under the label gb2312', plain('gb2312', octets(0x82, 0xc5)), { words: '偱' }],
  ['an old label', plain('cp437', octets(0x81)), { words: 'ü' }],
  ['UTF-7', plain('utf-7', 'caf+AOk-'), { words: 'café' }],
  ['a label of another spelling', plain('win-1251', octets(0xcf)), { words: 'П' }],
  ['unlabelled 8 bit', ['', 'caf\xe9'], { words: 'café', warning: /^Text:.*windows-1252/ }],
  [
    '8 bit under the label of ASCII',
    plain('us-ascii', 'caf\xe9'),
    { words: 'café', warning: /windows-1252/ },
  ],
  [
    '8 bit under an unknown label',
    plain('x-nonsense', 'caf\xe9'),
    { words: 'café', warning: /windows-1252/ },
  ],
  [
    'UTF-8 under a wrong label',
    plain('gbk', octets(0xe2, 0x9c, 0x93)),
    { words: '✓', warning: /utf-8/ },
  ],
  [
    'octets that do not fit their charset',
    plain('utf-8', 'caf\xe9 caf\xe9'),
    { words: 'caf\ufffd caf\ufffd', warning: /^Text: 2 places were not valid utf-8/ },
  ],
  [
    'HTML that declares its charset itself',
    ['Content-Type: text/html', '', `<meta charset="gbk"><p>${GBK}</p>`],
    { words: '中文', warning: /gbk/ },
  ],
  [
    'raw octets in the header, in the charset of the text',
    [`Subject: ${GBK}`, ...plain('gb2312', GBK)],
    { subject: '中文', words: '中文', warning: /^Subject:.*gbk/ },
  ],
  [
    'encoded words inside a character',
    [`Subject: =?gbk?B?${b64(GBK.slice(0, 1))}?= =?gbk?B?${b64(GBK.slice(1))}?=`, '', 'x'],
    { subject: '中文', words: 'x' },
  ],
  [
    'encoded words of a stateful charset',
    [
      `Subject: =?iso-2022-jp?B?${b64(`${NIHON}\x1b(B`)}?=`,
      ` =?ISO-2022-JP?Q?${NIHON.replace('\x1b', '=1B').replace('\\', '=5C')}=1B(B?=`,
      ...['', 'x'],
    ],
    { subject: '日本日本', words: 'x' },
  ],
  [
    'encoded words of other stateful charsets',
    [
      `Subject: =?hz-gb-2312?B?${b64('~{VP')}?= =?HZ-GB-2312?B?${b64('ND~}')}?=`,
      ` =?iso-2022-kr?B?${b64(KR)}?= =?iso-2022-cn?B?${b64(CN)}?=`,
      `From: =?hz-gb-2312?Q?${HZ}?= <a@example.net>`,
      ...['', 'x'],
    ],
    { subject: '中文한글中文', name: '中文', words: 'x' },
  ],
  ...[
    { charset: 'iso-2022-jp', raw: KANA, name: 'あえがぜだ' },
    { charset: 'hz-gb-2312', raw: HZ, name: '中文' },
    { charset: 'iso-2022-kr', raw: '\x0eGQ1[\x0f', name: '한글' },
    { charset: 'iso-2022-cn', raw: CN, name: '中文' },
  ].map(({ charset, raw, name }): [string, string[], Expected] => [
    `raw ${charset} in the header`,
    [`From: ${raw} <a@example.net>`, `Subject: ${raw}`, ...plain(charset, 'x')],
    { name, subject: name, words: 'x', warning: new RegExp(`^From:.*${charset}`, 'm') },
  ]),
  [
    'raw octets in and beside encoded words',
    [`From: ${GBK} =?gbk?Q?${GBK}?= <a@example.net>`, `Subject: =?gbk?Q?${GBK}?=`, '', 'x'],
    { name: '中文 中文', subject: '中文', words: 'x', warning: /^From:.*gbk/ },
  ],
  [
    'encoded words within quotes',
    [`From: "=?iso-2022-jp?B?${b64(`${NIHON}\x1b(B`)}?=" <a@example.net>`, '', 'x'],
    { name: '日本', words: 'x' },
  ],
  [
    'a sender whose name is its address',
    ['From: a@example.net <a@example.net>', '', 'x'],
    { name: null, words: 'x' },
  ],
  [
    'two Content-Type fields, the first one right',
    [
      ...[
        'Content-Type: multipart/mixed; boundary=right',
        'Content-Type: text/html; boundary=wrong',
      ],
      ...['', '--right', '', 'words', '--right--'],
    ],
    { words: 'words', warning: /^Content-Type: several/ },
  ],
  [
    'two Content-Transfer-Encoding fields',
    ['Content-Transfer-Encoding: 7bit', 'Content-Transfer-Encoding: base64', '', b64('words')],
    { words: 'words' },
  ],
  [
    'no Content-Type above its parts',
    ['', '--b', 'Content-Type: text/html', '', '<p>words</p>', '--b--'],
    { words: 'words', warning: /^Content-Type: missing/ },
  ],
  [
    'another boundary in an inner part',
    [
      ...['Content-Type: multipart/mixed; boundary=a', '', '--a'],
      ...[
        'Content-Type: multipart/alternative; boundary=b',
        '',
        '--c',
        '',
        'words',
        '--c--',
        '--a--',
      ],
    ],
    { words: 'words', warning: /boundary/ },
  ],
  [
    'a boundary with white space after it',
    ['Content-Type: multipart/mixed; boundary=a', '', '--a  ', '', 'words', '--a--\t'],
    { words: 'words' },
  ],
  [
    'no boundary at all',
    ['Content-Type: multipart/mixed', '', 'words'],
    { words: 'words', warning: /without parts/ },
  ],
  [
    'a type that is none',
    ['Content-Type: text', '', 'words'],
    { words: 'words', warning: /no media type/ },
  ],
]

describe('a message with', () => {
  for (const [title, lines, { warning, ...expected }] of table) {
    it(`${title} says the same on each way in`, async () => {
      const isNamed = lines.some((line) => /^from:/i.test(line))
      const from = isNamed ? [] : ['From: Ann <ann@example.net>']
      const raw = Buffer.from([...from, ...lines].join('\r\n'), 'latin1')
      const wanted = { subject: '', name: isNamed ? null : 'Ann', ...expected, files: [] }
      const { warnings, ...received } = await seeReceived(raw)
      assert.deepEqual(received, wanted)
      const mail = await submit(raw)
      for (const composed of [composeSubmitted(mail), composeRequest(mail)]) {
        const { warnings: none, ...seen } = await seeReceived(composed)
        assert.deepEqual([seen, none], [wanted, []])
      }
      assert.deepEqual(mail.warnings, warnings)
      if (warning === undefined) assert.deepEqual(warnings, [])
      else assert.match(warnings.join('\n'), warning)
    })
  }
})

describe('raw ISO-2022-JP in the header', () => {
  const raw = Buffer.from(
    [
      ...[`From: "${KANA}" <a@example.net>`, `Reply-To: ${KANA} <b@example.net>`],
      ...[`To: ${KANA} <c@example.net>, d@example.net`],
      ...['Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'x', '--b'],
      ...[`Content-Type: text/csv; name="${KANA}.csv"`],
      ...[`Content-Disposition: attachment; filename="${KANA}.csv"`, '', 'a', '--b--'],
    ].join('\r\n'),
    'latin1',
  )

  it('loses no address, name or filename on port 25', async () => {
    const { from, replyTo, attachments } = await readIncoming(raw)
    assert.deepEqual([from?.address.address, from?.name], ['a@example.net', 'あえがぜだ'])
    assert.equal(replyTo?.address, 'b@example.net')
    assert.deepEqual(
      attachments.map(({ filename }) => filename),
      ['あえがぜだ.csv'],
    )
  })

  it('loses no address, name or filename in a submission', async () => {
    const mail = await submit(raw)
    assert.deepEqual([mail.from.address.address, mail.from.name], ['a@example.net', 'あえがぜだ'])
    assert.equal(mail.reply?.address, 'b@example.net')
    assert.deepEqual([...mail.names], [['c@example.net', 'あえがぜだ']])
    assert.deepEqual(
      mail.attachments.map(({ filename }) => filename),
      ['あえがぜだ.csv'],
    )
  })
})

describe('what is cut or left out is said', () => {
  it('for filenames, names and repeated fields', async () => {
    const raw = Buffer.from(
      [
        ...[`From: ${'n'.repeat(1_200)} <a@example.net>`, 'X-Own: 1', 'X-Own: 2'],
        ...['Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'x', '--b'],
        ...[`Content-Disposition: attachment; filename=${'f'.repeat(300)}`, '', 'x', '--b--'],
      ].join('\r\n'),
    )
    const cut = ['Name: cut off at 998 characters.', 'Filename: cut off at 255 characters.']
    assert.deepEqual((await seeReceived(raw)).warnings, cut)
    const repeated = 'X-Own: a repeated field; the first one counts.'
    assert.deepEqual((await submit(raw)).warnings.sort(), [...cut, repeated].sort())
  })

  it('in a list that stays short', async () => {
    const parts = Array.from({ length: 60 }, (_, index) => {
      return ['--b', `Content-Disposition: attachment; filename="=?utf-${index}?Q?=E9?="`, '', 'x']
    })
    const lines = [
      'From: a@example.net',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      ...parts.flat(),
    ]
    assert.ok((await seeReceived(Buffer.from(lines.join('\r\n')))).warnings.length <= 21)
  })
})
