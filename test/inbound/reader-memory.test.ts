/**
 * To read a message takes little more memory than the message has octets, whatever it consists of. A thread
 * that exceeds its heap inside one call of V8 ends the whole process.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { childProgram } from '../child-program.ts'

const OCTETS = 1_500_000
/** The code alone has 35 MB; 26 octets for each octet of a message exceed the rest. */
const MAX_OLD_HEAP_MB = 74

const TOP = 'From: a@b.test\r\nTo: c@d.test\r\nSubject: x\r\nMIME-Version: 1.0\r\n'
const HTML = '\r\n--zz\r\nContent-Type: text/html\r\n\r\n<b>Hi</b>\r\n--zz--\r\n'

/** Units that have become many matches, lines or strings. `encoded`: the unit is within the encoding. */
const messages: [type: string, encoding: string, unit: string, isEncoded: boolean][] = [
  ['text/plain', '7bit', '\r\n', false],
  ['text/plain', '7bit', '>\r\n', false],
  ['text/plain', '8bit', '\xff', false],
  ['text/plain', 'base64', 'A!', false],
  ['text/plain', 'base64', 'QUFB\r\n', false],
  ['text/plain', 'base64', '>\n', true],
  ['text/plain', 'base64', '\r', true],
  ['text/plain; format=flowed', 'base64', '\n', true],
  ['text/plain; format=flowed', 'base64', 'a \n', true],
  ['text/plain', 'quoted-printable', '=41', false],
  ['text/plain', 'quoted-printable', '=0A', false],
  ['text/plain', 'quoted-printable', 'a=\r\n', false],
  ['text/html', 'base64', '>\n', true],
  ['text/html', 'base64', '"', true],
  ['beside HTML', 'base64', '>\n', true],
  ['beside HTML', 'base64', '<', true],
  ['application/octet-stream', 'base64', 'A!', false],
  ['message/rfc822', '7bit', '\r\n', false],
]

function build([type, encoding, unit, isEncoded]: (typeof messages)[number]): Buffer {
  const octets = Buffer.alloc(OCTETS, unit, 'latin1')
  const encoded = Buffer.from(octets.toString('base64').replace(/.{76}/g, '$&\r\n'))
  const body = isEncoded ? encoded : octets
  const isMixed = type === 'beside HTML'
  const part = `Content-Type: ${isMixed ? 'text/plain' : type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
  const before = isMixed
    ? `Content-Type: multipart/mixed; boundary=zz\r\n\r\n--zz\r\n${part}`
    : part
  return Buffer.concat([Buffer.from(TOP + before), body, Buffer.from(isMixed ? HTML : '\r\n')])
}

/** A process has flags of its own: the nursery of a test process leaves much garbage in the old heap. */
const reader = fork(childProgram('test/inbound/reader-memory-child.ts'), {
  execArgv: [`--max-old-space-size=${MAX_OLD_HEAP_MB}`, '--max-semi-space-size=8'],
  serialization: 'advanced',
})
const ended = once(reader, 'exit').then((how) => assert.fail(`the reader ended with ${how}`))
ended.catch(() => undefined)
after(() => reader.kill('SIGKILL'))

for (const message of messages) {
  const [type, encoding, unit] = message
  test(`S31: megabytes of ${JSON.stringify(unit)} in ${encoding} are read in little memory, as ${type}`, async () => {
    reader.send(build(message))
    const [length] = await Promise.race([once(reader, 'message'), ended])
    assert.ok(Number(length) >= 0)
  })
}
