import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { addProject, trustDomain } from '../core.ts'
import { asyncWithinCpuMs } from '../cpu-time.ts'
import { connect, type Dialogue } from './dialogue.ts'
import { openInbound } from './inbound-server.ts'

const hello = 'Subject: Hello\r\n\r\nHello\r\n'
const KIB = 1024
const MIB = 1024 * KIB
const small = { PILLARBOX_INBOUND__MAX_MESSAGE_BYTES: String(64 * KIB) }

/** Sends as much as the server reads, until it closes the connection. */
async function pour(client: Dialogue, chunk: Buffer, times: number): Promise<void> {
  for (let index = 0; index < times && client.socket.writable; index += 1) {
    if (client.socket.write(chunk)) continue
    await Promise.race([once(client.socket, 'drain'), once(client.socket, 'close')])
  }
}

/** A client that has sent nothing yet: no command of its own can come too late on a busy machine. */
async function greeted(t: TestContext, port: number): Promise<Dialogue> {
  const client = await connect(port)
  t.after(client.close)
  assert.equal((await client.read()).code, 220)
  return client
}

describe('the limits of a client', { concurrency: true }, () => {
  it('a message that is too large is refused, by SIZE or by its octets, and nothing is stored', async (t) => {
    const { dial, rows, returnPath } = await openInbound(t, { settings: small })
    const client = await dial()
    const declared = await client.say(`MAIL FROM:<> SIZE=${64 * KIB + 1}`)
    assert.deepEqual([declared.code, declared.text.slice(0, 6)], [552, '5.3.4 '])
    await client.open('', returnPath)
    const { code, text } = await client.data(Buffer.alloc(65 * KIB, 'x'))
    assert.deepEqual([code, text.slice(0, 6)], [552, '5.3.4 '])
    assert.deepEqual(await rows(), [])
    await client.open('', returnPath)
    const body = 'x'.repeat(64 * KIB - hello.length - 4)
    assert.equal((await client.data(`${hello}${body}\r\n`)).code, 250)
  })

  it('S5: a client that continues far beyond the limit is disconnected', async (t) => {
    const { dial, rows, returnPath } = await openInbound(t, {
      settings: small,
      limits: { checkMs: 5 },
    })
    const client = await dial()
    await client.open('', returnPath)
    const endless = pour(client, Buffer.alloc(64 * KIB, 'x\r\n'), 10_000)
    assert.match(await client.ended(), /^(421 4\.7\.0 [^\r\n]*\r\n)?$/)
    await endless
    assert.deepEqual(await rows(), [])
  })

  it('S5: an endless header section is refused', async (t) => {
    const { dial, rows, returnPath } = await openInbound(t)
    const client = await dial()
    for (const header of ['A: b\r\n'.repeat(60_000), `A: ${'b'.repeat(300 * KIB)}`]) {
      await client.open('', returnPath)
      const { code, text } = await client.data(`${header}\r\n\r\nbody`)
      assert.deepEqual([code, text.slice(0, 6)], [552, '5.3.4 '])
    }
    assert.deepEqual(await rows(), [])
  })

  it('S5: an endless command line ends the session', async (t) => {
    const { dial } = await openInbound(t)
    for (const line of ['x'.repeat(5 * KIB), `RCPT TO:<${'a'.repeat(3 * KIB)}@b.test>\r\n`]) {
      const client = await dial()
      client.write(line)
      assert.match(await client.ended(), /^421 4\.\d\.\d [^\r\n]*\r\n$/)
    }
  })

  it('S5: a session with ten thousand recipients gets a hundred accepted, the others deferred, and ends', async (t) => {
    const { core, dial, rows } = await openInbound(t)
    const project = await addProject(core)
    await trustDomain(core, project.id, 'shop.test')
    const client = await dial()
    await client.say('MAIL FROM:<>')
    const commands = Array.from(
      { length: 10_000 },
      (_, index) => `RCPT TO:<u${index}@shop.test>\r\n`,
    )
    client.write(commands.join(''))
    const replies = (await client.ended()).trimEnd().split('\r\n')
    const starts = Map.groupBy(replies, (reply) => reply.slice(0, 9))
    assert.equal(starts.get('250 2.1.5')?.length, 100)
    assert.match(replies.at(-1) ?? '', /^421 4\.7\.0 /)
    assert.deepEqual([...starts.keys()], ['250 2.1.5', '452 4.5.3', '421 4.7.0'])
    assert.deepEqual(await rows(), [])
  })

  it('refusals, commands and messages of a session are limited', async (t) => {
    const limits = { errors: 5, commands: 12, messages: 2 }
    const { dial, rows, returnPath } = await openInbound(t, { limits })
    const guessing = await dial()
    await guessing.say('MAIL FROM:<>')
    const codes: number[] = []
    for (let index = 0; index < 5; index += 1) {
      codes.push((await guessing.say(`RCPT TO:<u${index}@elsewhere.test>`)).code)
    }
    assert.deepEqual(codes, [550, 550, 550, 550, 550])
    assert.deepEqual(await guessing.read(), { code: 421, text: '4.7.0 Too many errors' })

    const idling = await dial()
    for (let index = 0; index < 11; index += 1) await idling.say('NOOP')
    assert.deepEqual(await idling.say('NOOP'), { code: 421, text: '4.7.0 Too many commands' })

    const sending = await dial()
    for (let index = 0; index < 2; index += 1) {
      await sending.open('', returnPath)
      assert.equal((await sending.data(hello)).code, 250)
    }
    assert.equal((await sending.say('MAIL FROM:<>')).code, 421)
    assert.equal((await rows()).length, 2)
  })

  it('connections are limited, per address and in total', async (t) => {
    const { port, dial, returnPath } = await openInbound(t, {
      limits: { connections: 4, connectionsPerAddress: 3 },
    })
    const clients = [await dial(), await dial(), await dial()]
    const extra = await connect(port)
    assert.match(await extra.ended(), /^421 4\.7\.0 .* your address\r\n$/)
    const elsewhere = await connect(port, { from: '127.0.0.2', ehlo: 'other.test' })
    t.after(elsewhere.close)
    const full = await connect(port, { from: '127.0.0.3' })
    assert.match(await full.ended(), /^421 4\.7\.0 Too many connections, /)
    clients[0]?.close()
    await clients[0]?.ended()
    await elsewhere.open('', returnPath)
    const again = await eventuallyGreeted(dial)
    assert.equal((await again.say('NOOP')).code, 250)
  })

  it('S5: a client that sends a command very slowly, or sends nothing, is disconnected in time', async (t) => {
    const limits = { commandMs: 600, checkMs: 10 }
    const { port } = await openInbound(t, { limits })
    const [silent, dripping] = [await greeted(t, port), await greeted(t, port)]
    const timer = setInterval(() => dripping.write('N'), 20)
    t.after(() => clearInterval(timer))
    for (const client of [silent, dripping]) {
      assert.match(await client.ended(), /^421 4\.4\.2 [^\r\n]*\r\n$/)
    }
  })

  it('S5: a client that sends a message very slowly is disconnected in time, and nothing is stored', async (t) => {
    const { dial, rows, returnPath } = await openInbound(t, {
      limits: { dataMs: 150, checkMs: 10 },
    })
    const client = await dial()
    await client.open('', returnPath)
    const timer = setInterval(() => client.write('x\r\n'), 20)
    t.after(() => clearInterval(timer))
    assert.match(await client.ended(), /^421 4\.4\.2 [^\r\n]*\r\n$/)
    assert.deepEqual(await rows(), [])
  })

  it("waiting for the database does not count as the client's time", async (t) => {
    const { core, dial, returnPath } = await openInbound(t, {
      limits: { commandMs: 2_000, checkMs: 10 },
    })
    const { write } = core.store
    core.store.write = async (fn) => {
      await sleep(2_500)
      return write(fn)
    }
    const client = await dial()
    await client.open('', returnPath)
    assert.equal((await client.data(hello)).code, 250)
  })

  it('while most sessions are in use, the time for a command is short', async (t) => {
    const limits = { connections: 3, busyCommandMs: 600, checkMs: 10 }
    const { port } = await openInbound(t, { limits })
    const first = await greeted(t, port)
    const second = await greeted(t, port)
    assert.match(await Promise.race([first.ended(), second.ended()]), /^421 4\.4\.2 /)
  })

  it('a session ends after its time, even while it is busy', async (t) => {
    const { port } = await openInbound(t, { limits: { sessionMs: 1_000, checkMs: 10 } })
    const client = await greeted(t, port)
    let reply = { code: 250, text: '' }
    // Slowly, so that the limit of commands does not end the session first.
    for (; reply.code === 250; await sleep(10)) reply = await client.say('NOOP')
    assert.deepEqual([reply.code, reply.text.slice(0, 6)], [421, '4.4.2 '])
  })

  it('S5: many large messages at once stay within the memory limit', async (t) => {
    const { dial, rows, returnPath } = await openInbound(t, { memoryBytes: 2 * MIB })
    const clients = await Promise.all(Array.from({ length: 8 }, dial))
    const body = Buffer.alloc(MIB - 62, `\r\n${'x'.repeat(60)}\r\n`)
    for (const client of clients) await client.open('', returnPath)
    const replies = await Promise.all(clients.map((client) => client.data(body)))
    const taken = replies.filter(({ code }) => code === 250)
    const others = replies.filter(({ code }) => code !== 250)
    assert.ok(taken.length >= 1 && others.length >= 1, String(taken.length))
    for (const { code, text } of others) assert.deepEqual([code, text.slice(0, 6)], [452, '4.3.1 '])
    assert.equal((await rows()).length, taken.length)
    for (const client of clients) await client.open('', returnPath)
    assert.equal((await clients[0]?.data(body))?.code, 250, 'what was held is free again')
  })
})

async function eventuallyGreeted(dial: () => Promise<Dialogue>): Promise<Dialogue> {
  for (;;) {
    const client = await dial()
    if ((await client.say('NOOP')).code === 250) return client
  }
}

test('no command line takes much processor time, however often it is repeated', async (t) => {
  const { dial } = await openInbound(t)
  for (const verb of ['RCPT TO:', 'RCPT TO:<', 'MAIL FROM:<', 'EHLO ']) {
    const client = await dial()
    if (verb.startsWith('RCPT')) await client.say('MAIL FROM:<>')
    for (const piece of ['@', '"', '@a', 'a.', '<', ' ', '\\']) {
      for (const end of ['', '>']) {
        const line = `${verb}${piece.repeat(1_900 / piece.length)}${end}`
        const { code } = await asyncWithinCpuMs(1_000, () => client.say(line), `${verb}${piece}`)
        assert.ok(code >= 250 && code < 600)
      }
    }
  }
})
