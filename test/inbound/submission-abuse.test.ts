import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { connect } from './dialogue.ts'
import {
  openSubmission,
  plainLogin,
  type SubmissionServer,
  shareSubmission,
} from './submission-server.ts'

const head = 'From: shop@example.test\r\nSubject: x\r\n\r\n'

/** Submits one message in its own session. Returns the reply. */
async function submit({ dialogue }: SubmissionServer, message: string | Buffer): Promise<string> {
  const client = await dialogue()
  await client.open('shop@example.test', 'ada@dest.test')
  const { code, text } = await client.data(message)
  client.close()
  return `${code} ${text}`
}

describe('submission under attack', () => {
  const share = shareSubmission()

  it('S1: only CRLF.CRLF ends a message: what looks like a second one is text or refused', async () => {
    const server = await share()
    const hidden = 'MAIL FROM:<shop@example.test>\r\nRCPT TO:<victim@dest.test>\r\nDATA\r\n'
    for (const end of ['\r.\r\n', '\r\n.\r\r\n', '\r.\r']) {
      const reply = await submit(server, `${head}one${end}${hidden}${head}two`)
      assert.match(reply, /^554 5\.6\.0 /, JSON.stringify(end))
    }
    assert.deepEqual(await server.rows(), [])
    for (const [index, end] of ['\n.\n', '\n.\r\n', '\r\n.\n'].entries()) {
      const reply = await submit(server, `${head}one${end}${hidden}${head}two`)
      assert.match(reply, /^250 /, JSON.stringify(end))
      const rows = await server.rows()
      assert.equal(rows.length, index + 1)
      assert.deepEqual(
        [rows.at(-1)?.recipient, rows.at(-1)?.content.body?.startsWith('one\n')],
        ['ada@dest.test', true],
      )
      assert.match(rows.at(-1)?.content.body ?? '', /RCPT TO:<victim@dest\.test>/)
    }
  })

  it('S4: data in the same packet as STARTTLS is dropped', async () => {
    const { ports, project, rows } = await share()
    const client = await connect(ports.plain, { ehlo: 'client.test' })
    client.write(`STARTTLS\r\nEHLO evil.test\r\nAUTH PLAIN ${plainLogin(project.secret)}\r\n`)
    assert.equal((await client.read()).code, 220)
    const secure = await client.secure()
    assert.equal((await secure.say('MAIL FROM:<shop@example.test>')).code, 503)
    await secure.say('EHLO client.test')
    assert.equal((await secure.say('MAIL FROM:<shop@example.test>')).code, 530)
    assert.deepEqual(await rows(), [])
    secure.close()
  })

  it('S4: commands that arrive before the reply to EHLO are not accepted', async () => {
    const { ports, project } = await share()
    const client = await connect(ports.plain)
    await client.read()
    client.write(`EHLO client.test\r\nAUTH PLAIN ${plainLogin(project.secret)}\r\n`)
    assert.equal((await client.read()).code, 554)
    assert.equal(await client.ended(), '')
  })

  it('S5: an endless command line ends the session', async () => {
    const { ports } = await share()
    const client = await connect(ports.plain, { ehlo: 'client.test' })
    client.write('x'.repeat(100_000))
    assert.equal((await client.read()).code, 421)
    await client.ended()
  })

  it('S8: MIME bombs are refused, and the next message is accepted', async () => {
    const server = await share()
    for (const [name, bomb] of Object.entries(mimeBombs())) {
      assert.match(await submit(server, bomb), /^55[24] 5\.[36]\.\d /, name)
    }
    assert.match(await submit(server, `${head}x`), /^250 /)
    assert.equal((await server.rows()).length, 1)
  })

  it('odd charsets, encodings and lines are read as well as possible', async () => {
    const server = await share()
    const base64 = Buffer.from('ab'.repeat(500_000)).toString('base64')
    for (const body of [
      'Content-Type: text/plain; charset=x-klingon\r\n\r\nx',
      'Content-Type: text/plain; charset="../../etc"\r\n\r\n\xff\xfe',
      `Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}`,
      'Content-Type: text/html; charset=utf-7\r\nContent-Transfer-Encoding: none\r\n\r\n+AGE-',
      'Content-Type: multipart/mixed\r\n\r\nx',
      'Content-Type: multipart/mixed; boundary=""\r\n\r\n--\r\n\r\nx\r\n----',
      'Content-Type: ;;;=\r\n\r\nx',
    ]) {
      assert.match(
        await submit(server, `From: shop@example.test\r\n${body}`),
        /^250 /,
        body.slice(0, 60),
      )
    }
  })
})

describe('limits of submission under attack', { concurrency: 8 }, () => {
  it('a session with nothing but commands or errors ends', async (t) => {
    const { dialogue, rows } = await openSubmission(t, { limits: { commands: 50, errors: 10 } })
    const [noops, errors, recipients] = [await dialogue(), await dialogue(), await dialogue()]
    noops.write('NOOP\r\n'.repeat(100))
    errors.write('MAIL FROM:<x@other.test>\r\n'.repeat(100))
    recipients.write('MAIL FROM:<shop@example.test>\r\n')
    recipients.write(
      Array.from({ length: 10_000 }, (_, n) => `RCPT TO:<r${n}@b.test>\r\n`).join(''),
    )
    for (const client of [noops, errors, recipients]) {
      assert.match(await client.ended(), /\r\n421 4\.7\.0 Too many (?:commands|errors)\r\n$/)
    }
    assert.deepEqual(await rows(), [])
  })

  it('S5: a trickle of octets does not keep a session open, in commands and in a message', async (t) => {
    const limits = { commandMs: 1_000, dataMs: 1_000, checkMs: 10 }
    const { dialogue, rows } = await openSubmission(t, { limits })
    const [commands, message] = [await dialogue(), await dialogue()]
    await message.open('shop@example.test', 'ada@dest.test')
    const drip = setInterval(() => {
      commands.write('N')
      message.write('x')
    }, 10)
    t.after(() => clearInterval(drip))
    assert.equal((await commands.read()).code, 421)
    assert.equal((await message.read()).code, 421)
    assert.deepEqual(await rows(), [])
    for (const client of [commands, message]) client.close()
  })

  it('the connections of one address are limited, also before the handshake', async (t) => {
    const { ports } = await openSubmission(t, { limits: { connectionsPerAddress: 2 } })
    const silent = [connectTcp(ports.tls, '127.0.0.1'), connectTcp(ports.tls, '127.0.0.1')]
    await Promise.all(silent.map((socket) => once(socket, 'connect')))
    const third = connectTcp(ports.tls, '127.0.0.1')
    third.on('error', () => undefined)
    await once(third, 'close')
    const [first] = silent
    first?.destroy()
    await untilGreeted(ports.tls)
    const clients = [await connect(ports.plain), await connect(ports.plain)]
    await Promise.all(clients.map((client) => client.read()))
    const one = await connect(ports.plain)
    assert.equal((await one.read()).code, 421)
    for (const client of clients) client.close()
    for (const socket of silent) socket.destroy()
  })

  it('a message that takes too long to read is refused', async (t) => {
    const endless = `require('node:worker_threads').parentPort.postMessage('ready'); for (;;);`
    const start = () => new Worker(endless, { eval: true })
    const server = await openSubmission(t, { reader: { start, timeoutMs: 20 } })
    const reply = await submit(server, `${head}line`)
    assert.match(reply, /^554 5\.6\.0 The message takes too long/)
    assert.deepEqual(await server.rows(), [])
  })

  it('random input gets replies, and the next client is served', async (t) => {
    const server = await openSubmission(t, { limits: { commands: 1_000, errors: 1_000 } })
    const word = fc.constantFrom(
      ...['EHLO', 'HELO', 'AUTH PLAIN', 'AUTH LOGIN', 'MAIL FROM:', 'RCPT TO:', 'DATA', 'RSET'],
      ...['NOOP', 'VRFY', 'BDAT 5 LAST', '<shop@example.test>', '<>', '\0', '=', '\xff', '.', 'X'],
      ...['SIZE=1', 'SMTPUTF8', 'BODY=8BITMIME', '*', 'AA==', '\r\n', '\r\n.\r\n'],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 12 }), async (words) => {
        const client = await server.dialogue()
        client.write(`${words.join(' ')}\r\n.\r\nQUIT\r\n`)
        assert.notEqual((await client.read()).code, 0)
        client.close()
      }),
      { numRuns: 15 },
    )
    assert.match(await submit(server, `${head}x`), /^250 /)
  })
})

function mimeBombs(): Record<string, string> {
  const nested = Array.from(
    { length: 10_000 },
    (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
  ).join('')
  const parts = '--b\r\n\r\nx\r\n'.repeat(10_000)
  return {
    nested: `From: shop@example.test\r\n${nested}\r\nx`,
    parts: `From: shop@example.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--`,
    header: `From: shop@example.test\r\n${'X-Long: x\r\n'.repeat(100_000)}\r\nx`,
    field: `From: shop@example.test\r\nX-Long: ${'x\r\n '.repeat(100_000)}\r\n\r\nx`,
  }
}

/** Retries, because a closed connection counts for a moment longer. */
async function untilGreeted(port: number): Promise<void> {
  for (;;) {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    const isGreeted = await Promise.race([
      once(socket, 'data').then(
        () => true,
        () => false,
      ),
      once(socket, 'close').then(
        () => false,
        () => false,
      ),
    ])
    socket.destroy()
    if (isGreeted) return
  }
}
