import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { SNIPPETS, writeSnippet } from '../../src/dashboard/logic/snippets.ts'

const MAIL = {
  from: 'hello@example.test',
  to: 'you@example.net',
  subject: 'Hello',
  body: '<p>It\'s \\ "here".</p>',
}
const PLACE = {
  url: 'http://localhost:8080',
  submission: { host: 'mail.example.com', port: 587, isTls: false },
}

test('each snippet has the address, the sender and the variable of the key, and no key', () => {
  for (const kind of SNIPPETS) {
    const text = writeSnippet(kind, PLACE, MAIL) ?? ''
    assert.match(text, /PILLARBOX_KEY/, kind)
    assert.match(text, /hello@example\.test/, kind)
    assert.match(
      text,
      kind === 'smtp' ? /smtp:\/\/mail\.example\.com:587/ : /:8080\/v1\/send/,
      kind,
    )
  }
})

test('SMTP has no snippet where the server takes none', () => {
  assert.equal(writeSnippet('smtp', { ...PLACE, submission: undefined }, MAIL), undefined)
  const isTls = writeSnippet(
    'smtp',
    { ...PLACE, submission: { host: 'a.example', port: 465, isTls: true } },
    MAIL,
  )
  assert.match(isTls ?? '', /smtps:\/\/a\.example:465/)
})

test('a shell reads what the snippet for curl says, quotes included', () => {
  const text = writeSnippet('curl', PLACE, MAIL) ?? ''
  const script = `curl() { printf '%s\\n' "$@"; }; PILLARBOX_KEY=sk_1\n${text}`
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
  const json = words.slice(words.indexOf('{'))
  assert.deepEqual(JSON.parse(json), MAIL)
  assert.match(words, /Authorization: Bearer sk_1/)
})
