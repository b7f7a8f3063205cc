import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openInbound } from './inbound-server.ts'

/** Octets around a dot that end a message for some servers. */
const ends = ['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r\n', '\r\n.\r\r\n', '\r.\r', '\r\n.\r']

describe('the end of a message', { concurrency: true }, () => {
  for (const end of ends) {
    it(`S1: ${JSON.stringify(end)} does not end a message: the text after it is never a second envelope`, async (t) => {
      const { dial, rows, returnPath, core } = await openInbound(t)
      const warnings: Record<string, unknown>[] = []
      core.log.warn = ((fields: Record<string, unknown>) => warnings.push(fields)) as never
      const client = await dial()
      assert.equal((await client.open('real@sender.test', returnPath)).code, 354)
      const second = `MAIL FROM:<forged@bank.test>\r\nRCPT TO:<${returnPath}>\r\nDATA\r\nSubject: forged\r\n\r\nforged`
      const reply = await client.data(`Subject: real\r\n\r\nreal${end}${second}`)
      assert.equal(reply.code, 554)
      assert.match(reply.text, /^5\.6\.0 /)
      assert.equal(await rows().then((all) => all.length), 0)
      assert.deepEqual(warnings, [
        {
          ...{ peer: '127.0.0.1', from: 'real@sender.test', to: [returnPath] },
          sessionId: warnings[0]?.sessionId,
        },
      ])
      assert.match(String(warnings[0]?.sessionId), /^\w{16}$/)
      // There is one reply per command, and the session goes on.
      assert.deepEqual(await client.say('NOOP'), { code: 250, text: '2.0.0 OK' })
      assert.equal((await client.open('', returnPath)).code, 354)
      assert.equal((await client.data('Subject: next\r\n\r\nnext')).code, 250)
      const [kept] = await rows()
      assert.equal(kept?.reversePath, '')
      assert.doesNotMatch(String(kept?.raw), /forged/)
    })
  }

  it('S1: a stuffed dot alone on its line is content, in packets of any size', async (t) => {
    const { dial, rows, returnPath } = await openInbound(t)
    const client = await dial()
    const forged = '..\r\nMAIL FROM:<forged@bank.test>\r\n...\r\n'
    const wires = [`Subject: dots\r\n\r\n${forged}.\r\n`, `${forged}.\r\n`]
    const cuts = wires.flatMap((wire) =>
      Array.from({ length: 12 }, (_, index) => [wire.slice(0, 1 + index), wire.slice(1 + index)]),
    )
    for (const [start = '', rest = ''] of cuts) {
      await client.open('', returnPath)
      client.write(start)
      await new Promise((resolve) => setImmediate(resolve))
      client.write(rest)
      assert.equal((await client.read()).code, 250)
    }
    const all = await rows()
    assert.equal(all.length, cuts.length)
    const expected = /\r\n\.\r\nMAIL FROM:<forged@bank\.test>\r\n\.\.\r\n$/
    for (const { raw } of all) assert.match(String(raw), expected)
  })
})
