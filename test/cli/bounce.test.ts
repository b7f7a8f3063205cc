import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../config/place.ts'
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

test('bounce inspect prints one JSON line a file, without any configuration', async () => {
  const files = [write('bounce.eml', bounce), write('reply.eml', reply), write('empty.eml', '')]
  const { status, out, err } = await runAt({ cwd, env: {} }, 'bounce', 'inspect', ...files)
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
    },
    { file: 'empty.eml', kind: 'other', recipients: [], feedbackType: null },
  ])
})

test('bounce inspect reads standard input as -', async () => {
  const { status, out } = await runAt({ cwd, env: {}, input: bounce }, 'bounce', 'inspect', '-')
  assert.equal(status, 0)
  const [line] = parseLines(out) as { file: string; kind: string }[]
  assert.deepEqual([line?.file, line?.kind], ['-', 'bounce'])
})

test('what cannot be read is named, and the others are printed', async () => {
  const files = ['absent.eml', write('reply.eml', reply), '.']
  const { status, out, err } = await runAt({ cwd, env: {} }, 'bounce', 'inspect', ...files)
  assert.equal(status, 1)
  assert.equal(parseLines(out).length, 1)
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
