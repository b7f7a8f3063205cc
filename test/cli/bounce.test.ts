import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../config/config-folder.ts'
import { runAt } from '../fakes/terminal.ts'

const cwd = makeFolder()

const bounce = `From: MAILER-DAEMON@mx.test
Subject: failure notice

Hi. This is the qmail-send program at mx.test.

<ann@reader.test>:
Remote host said: 550 5.1.1 no \x1b[31msuch user
<bob@full.test>:
user is over quota. (#5.2.2)
`
const reply = 'From: ann@reader.test\nAuto-Submitted: auto-replied\nSubject: Away\n\nBack soon.\n'

function write(name: string, text: string): string {
  writeFileSync(path.join(cwd, name), text)
  return name
}

function parseLines(out: string): unknown[] {
  assert.ok(out === '' || out.endsWith('\n'))
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

test('bounce inspect --json prints one JSON line per file and needs no configuration', async () => {
  const files = [write('bounce.eml', bounce), write('reply.eml', reply), write('empty.eml', '')]
  const { status, out, err } = await runAt(
    { cwd, env: {} },
    'bounce',
    'inspect',
    '--json',
    ...files,
  )
  assert.deepEqual([status, err], [0, ''])
  assert.deepEqual(parseLines(out), [
    {
      file: 'bounce.eml',
      kind: 'bounce',
      recipients: [
        {
          recipient: 'ann@reader.test',
          action: 'failed',
          status: '5.1.1',
          replyCode: 550,
          class: 'hard',
          reason: 'userunknown',
          diagnostic: '<ann@reader.test>: Remote host said: 550 5.1.1 no \\x1b[31msuch user',
        },
        {
          recipient: 'bob@full.test',
          action: 'failed',
          status: '5.2.2',
          replyCode: null,
          class: 'soft',
          reason: 'mailboxfull',
          diagnostic: '<bob@full.test>: user is over quota. (#5.2.2)',
        },
      ],
      feedbackType: null,
      truncated: false,
    },
    {
      file: 'reply.eml',
      kind: 'auto-reply',
      recipients: [
        {
          recipient: 'ann@reader.test',
          action: 'delivered',
          status: null,
          replyCode: null,
          class: 'soft',
          reason: 'vacation',
          diagnostic: '',
        },
      ],
      feedbackType: null,
      truncated: false,
    },
    { file: 'empty.eml', kind: 'other', recipients: [], feedbackType: null, truncated: false },
  ])
})

test('bounce inspect escapes control characters', async () => {
  const files = [write('bounce.eml', bounce), write('reply.eml', reply), write('empty.eml', '')]
  const { status, out } = await runAt({ cwd, env: {} }, 'bounce', 'inspect', ...files)
  assert.equal(status, 0)
  assert.match(out, /^bounce\.eml: bounce\n {2}RECIPIENT +ACTION +CLASS +REASON +STATUS +CODE/)
  assert.match(out, / {2}ann@reader\.test +failed +hard +userunknown +5\.1\.1 +550 +<ann/)
  assert.match(out, / {2}bob@full\.test +failed +soft +mailboxfull +5\.2\.2 +- /)
  assert.match(out, /^reply\.eml: auto-reply$/m)
  assert.match(out, /^empty\.eml: other\n {2}The file names no recipient\.\n/m)
  assert.ok(!out.includes('\x1b') && !out.includes('truncated'))
})

test('bounce inspect shows no control character of a feedback type', async () => {
  const report = [
    'From: fbl@reader.test',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary=x',
    '',
    '--x',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: ab\x1b[31muse',
    'Original-Rcpt-To: ann@reader.test',
    '--x--',
    '',
  ].join('\r\n')
  const { out } = await runAt({ cwd }, 'bounce', 'inspect', write('feedback.eml', report))
  assert.match(out, /^feedback\.eml: complaint \(ab\\x1b\[31muse\)\n/)
})

test('bounce inspect marks a report that it has not read to the end as truncated', async () => {
  const many = (count: number) => {
    const lines = Array.from(
      { length: count },
      (_, n) => `<r${n}@reader.test>:\n550 no such user\n`,
    )
    return `From: MAILER-DAEMON@mx.test\nSubject: failure notice\n\n${lines.join('\n')}`
  }
  const fields = (count: number) => {
    const groups = Array.from(
      { length: count },
      (_, n) => `Final-Recipient: rfc822; r${n}@reader.test\nAction: failed\nStatus: 5.1.1\n`,
    )
    return `From: MAILER-DAEMON@mx.test\nSubject: failure notice\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\n${groups.join('\n')}`
  }
  const complaint = (count: number) =>
    `From: fbl@mx.test\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n${'Original-Rcpt-To: a@reader.test\n'.repeat(count)}`
  for (const [text, count, truncated] of [
    [many(50), 50, false],
    [many(51), 50, true],
    [fields(50), 50, false],
    [fields(60), 50, true],
    [complaint(50), 50, false],
    [complaint(51), 50, true],
    [`${bounce}${' '.repeat(8_388_608)}`, 2, true],
  ] as const) {
    const file = write('long.eml', text)
    const json = await runAt({ cwd, env: {} }, 'bounce', 'inspect', '--json', file)
    const [line] = parseLines(json.out) as { recipients: unknown[]; truncated: boolean }[]
    assert.deepEqual([line?.recipients.length, line?.truncated], [count, truncated])
    const { out } = await runAt({ cwd, env: {} }, 'bounce', 'inspect', file)
    assert.equal(/^long\.eml: .*truncated/.test(out), truncated)
  }
})

test('bounce inspect reads standard input as -', async () => {
  const { status, out } = await runAt(
    { cwd, env: {}, input: bounce },
    'bounce',
    'inspect',
    '-',
    '--json',
  )
  assert.equal(status, 0)
  const [line] = parseLines(out) as { file: string; kind: string }[]
  assert.deepEqual([line?.file, line?.kind], ['-', 'bounce'])
})

test('an unreadable file is named, and the others are printed', async () => {
  const files = ['absent.eml', write('reply.eml', reply), '.']
  const { status, out, err } = await runAt({ cwd, env: {} }, 'bounce', 'inspect', ...files)
  assert.equal(status, 1)
  assert.equal(out.match(/: auto-reply$/gm)?.length, 1)
  assert.match(err, /^pillarbox: cannot read absent\.eml: no such file or directory\n/)
  assert.match(err, /cannot read \.: illegal operation on a directory\n$/)
  const json = await runAt({ cwd, env: {} }, 'bounce', 'inspect', 'absent.eml', '--json')
  assert.deepEqual([json.status, json.out], [1, ''])
  assert.deepEqual(JSON.parse(json.err), {
    error: {
      code: 'BAD_REQUEST',
      message: 'cannot read absent.eml: no such file or directory',
    },
  })
})

test('bounce inspect without a file is wrong usage', async () => {
  const { status, out } = await runAt({ cwd, env: {} }, 'bounce', 'inspect')
  assert.deepEqual([status, out], [2, ''])
})
