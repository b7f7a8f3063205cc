import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findLinkTokens,
  hideLinkTokens,
  hideSecrets,
  zeroLinkTokens,
} from '../../src/formats/link-tokens.ts'
import { zeroLinks } from '../../src/formats/parse/zero-links.ts'

const TOKEN = `${'0123456789abcdef'.repeat(3)}fedcba9876543210`
const PATHS = ['/auth/reset-password?token=', '/auth/verify-email?token=', '/invitations/']

const encode = (text: string) =>
  text.replace(/[/?=]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** What programs make of a link: its path, and what comes between the path and the token. */
const FORMS: Record<string, (path: string, token: string) => string> = {
  'in clear': (path, token) => `see https://mail.shop.test${path}${token}, or not`,
  'at the end': (path, token) => `https://mail.shop.test${path}${token}`,
  'with percent signs': (path, token) => `https://x.test/?u=${encode(path)}${token}&v=1`,
  'with small percent signs': (path, token) => `${encode(path).toLowerCase()}${token}`,
  'encoded twice': (path, token) => `${encode(path).replaceAll('%', '%25')}${token}`,
  'quoted-printable': (path, token) => `${path.replaceAll('=', '=3D')}${token}`,
  'softly broken': (path, token) =>
    `${path.slice(0, 9)}=\r\n${path.slice(9).replaceAll('=', '=3D')}${token.slice(0, 20)}=\r\n${token.slice(20)}`,
  'broken and marked': (path, token) =>
    `> > ${path}\r\n> > ${token.slice(0, 5)}\r\n> > ${token.slice(5)}\r\nabout`,
  'as HTML references': (path, token) =>
    `${path.replaceAll('/', '&#x2F;').replaceAll('=', '&equals;').replaceAll('?', '&#63;')}${token}`,
}

for (const [name, form] of Object.entries(FORMS)) {
  test(`S30: the token of a link is hidden ${name}`, () => {
    for (const path of PATHS) {
      const text = form(path, TOKEN)
      const hidden = hideLinkTokens(text)
      assert.ok(hidden.includes('…'), hidden)
      assert.ok(!hidden.includes(TOKEN.slice(0, 12)) && !hidden.includes(TOKEN.slice(-12)), hidden)
      const zeroed = zeroLinkTokens(text)
      assert.equal(zeroed.length, text.length)
      assert.ok(!zeroed.includes(TOKEN.slice(0, 12)) && !zeroed.includes(TOKEN.slice(-12)), zeroed)
    }
  })
}

test('other texts stay as they are', () => {
  for (const text of [
    '',
    TOKEN,
    `token=${TOKEN}`,
    `https://x.test/auth/reset-password?token=${TOKEN.slice(1)}`,
    `https://x.test/downloads/${TOKEN}`,
    `https://x.test/invitations/ ${TOKEN}`,
    '/auth/reset-password?token=\r\n\r\nabc',
  ]) {
    assert.equal(hideLinkTokens(text), text)
    const raw = Buffer.from(text)
    assert.equal(zeroLinks(raw), raw)
  }
})

test('the tokens of links are found, each once', () => {
  const other = TOKEN.replaceAll('0', 'f')
  const text = PATHS.map((path) => `https://x.test${path}${TOKEN} `).join('')
  assert.deepEqual(findLinkTokens(`${text} https://x.test/invitations/${other}`), [TOKEN, other])
})

test('S30: a reply shows no piece of a secret, in clear or in base64', () => {
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.from(`${'x'.repeat(shift)}token=${TOKEN}.`).toString('base64')
    const reply = `554 5.7.1 ${TOKEN.slice(7, 30)} and ${encoded} of <https://x.test/?${TOKEN}>`
    const shown = hideSecrets(reply, [TOKEN])
    assert.match(shown, /^554 5\.7\.1 … and .+ of <https:\/\/x\.test\/\?…>$/)
    const left = Buffer.from(shown.split(' ')[4] ?? '', 'base64').toString('latin1')
    assert.ok(!left.includes(TOKEN.slice(4, 20)) && !left.includes(TOKEN.slice(-20, -4)))
  }
  assert.equal(
    hideSecrets('250 2.0.0 Ok: queued as 4F2C91', [TOKEN]),
    '250 2.0.0 Ok: queued as 4F2C91',
  )
})

test('S30: a message keeps its size and its lines without the token, also in nested base64', () => {
  const mail = `Subject: a\r\n\r\n${'Some words before the link. '.repeat(4)}https://x.test/auth/reset-password?token=${TOKEN}\r\n`
  const lines = (text: string) => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n')
  for (let pad = 0; pad < 3; pad += 1) {
    const inner = `X: ${'y'.repeat(pad)}\r\n\r\n${lines(mail)}`
    for (const raw of [mail, inner, `A: b\r\n\r\n${lines(inner)}\r\n--end--\r\n`]) {
      const zeroed = zeroLinks(Buffer.from(raw)).toString()
      assert.equal(zeroed.length, raw.length)
      assert.deepEqual(
        zeroed.split('\r\n').map(({ length }) => length),
        raw.split('\r\n').map(({ length }) => length),
      )
      let text = zeroed
      while (!text.includes('Some words'))
        text = Buffer.from(text.split('\r\n\r\n')[1] ?? '', 'base64').toString()
      assert.ok(text.includes(`token=${'0'.repeat(64)}`), text)
    }
  }
})

test('a message that is longer than a string can be is searched in slices', () => {
  const line = Buffer.from(`${'words '.repeat(12)}\r\n`)
  const filler = Buffer.alloc(8 * 1024 * 1024 + 1, line)
  const link = Buffer.from(`\r\nhttps://x.test/invitations/${TOKEN}\r\n`)
  const raw = Buffer.concat([filler, link, line])
  const zeroed = zeroLinks(raw)
  assert.equal(zeroed.length, raw.length)
  assert.ok(!zeroed.includes(TOKEN))
  assert.ok(zeroed.includes(`/invitations/${'0'.repeat(64)}`))
})

test('an attachment of any size is searched', () => {
  const link = `https://x.test/invitations/${TOKEN}\r\n`
  const content = Buffer.concat([
    // More than a slice in base64.
    Buffer.alloc(6.5 * 1024 * 1024, 'words '),
    Buffer.from(link),
    Buffer.from('words'),
  ])
  const lines = content.toString('base64').replace(/.{76}/g, '$&\r\n')
  const raw = Buffer.from(`A: b\r\n\r\n--x\r\n\r\n${lines}\r\n--x--\r\n`)
  const zeroed = zeroLinks(raw)
  assert.equal(zeroed.length, raw.length)
  const shown = Buffer.from(zeroed.toString('latin1', 15, 15 + lines.length), 'base64').toString()
  assert.ok(!shown.includes(TOKEN))
  assert.equal(shown.length, content.length)
  const other = Buffer.from(`A: b\r\n\r\n${'A'.repeat(76).concat('\r\n').repeat(110_000)}`)
  assert.equal(zeroLinks(other), other)
})
