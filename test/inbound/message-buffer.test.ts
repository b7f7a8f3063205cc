import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createAllowance, createMessageBuffer } from '../../src/inbound/message-buffer.ts'

const KIB = 1024

/** An allowance that counts the memory in use. */
function countedAllowance(bytes: number) {
  const allowance = createAllowance(bytes)
  const counted = { held: 0, most: 0 }
  return {
    counted,
    take(wanted: number, isSmall: boolean) {
      if (!allowance.take(wanted, isSmall)) return false
      counted.held += wanted
      counted.most = Math.max(counted.most, counted.held)
      return true
    },
    release(given: number) {
      counted.held -= given
      allowance.release(given)
    },
  }
}

const finishCode = (finish: () => unknown) => {
  try {
    finish()
    return 250
  } catch (error) {
    return (error as { responseCode: number }).responseCode
  }
}

test('a message comes back unchanged, in portions of any size', () => {
  const line = fc.string({ unit: 'grapheme-ascii', maxLength: 40 }).map((text) => `${text}\r\n`)
  const cuts = fc.array(fc.nat(400), { maxLength: 20 })
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), cuts, (lines, at) => {
      const whole = Buffer.from(lines.join(''))
      const allowance = countedAllowance(64 * KIB)
      const buffer = createMessageBuffer({ maxBytes: 64 * KIB, allowance })
      const edges = [0, ...at.filter((cut) => cut < whole.length).sort((a, b) => a - b)]
      for (const [index, edge] of edges.entries()) {
        buffer.write(whole.subarray(edge, edges[index + 1] ?? whole.length))
      }
      assert.ok(Buffer.concat(buffer.finish()).equals(whole))
      buffer.release()
      assert.equal(allowance.counted.held, 0)
    }),
  )
})

test('a lone CR or LF is found, also across portions', () => {
  const broken = ['a\nb', 'a\rb', '\n', '\ra', 'a\r\r\n', 'a\r\n\n', 'a\n\r\n']
  for (const text of broken) {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const buffer = createMessageBuffer({ maxBytes: KIB, allowance: createAllowance(64 * KIB) })
      buffer.write(Buffer.from(text.slice(0, cut)))
      buffer.write(Buffer.from(text.slice(cut)))
      assert.equal(finishCode(buffer.finish), 554, JSON.stringify([text, cut]))
    }
  }
})

test('S5: octets that arrive one by one take no more memory than all at once', () => {
  const allowance = countedAllowance(1024 * KIB)
  const buffer = createMessageBuffer({ maxBytes: 512 * KIB, allowance })
  const one = Buffer.from('x')
  for (let index = 0; index < 300 * KIB; index += 1) buffer.write(one)
  assert.ok(allowance.counted.most <= 512 * KIB, String(allowance.counted.most))
  buffer.release()
  assert.equal(allowance.counted.held, 0)
})

test('a refused message is freed at once, and the rest of it is not stored', () => {
  const allowance = countedAllowance(64 * KIB)
  const tooLarge = createMessageBuffer({ maxBytes: 16 * KIB, allowance })
  for (let index = 0; index < 100; index += 1) tooLarge.write(Buffer.alloc(KIB, 'x'))
  assert.equal(allowance.counted.held, 0)
  assert.ok(allowance.counted.most <= 16 * KIB)
  assert.equal(finishCode(tooLarge.finish), 552)

  const all = Array.from({ length: 9 }, () =>
    createMessageBuffer({ maxBytes: 16 * KIB, allowance }),
  )
  for (const buffer of all) buffer.write(Buffer.alloc(5 * KIB, 'x'))
  assert.deepEqual(
    all.map(({ finish }) => finishCode(finish)),
    [250, 250, 250, 250, 250, 250, 250, 250, 452],
  )
  for (const buffer of all) buffer.release()
  assert.equal(allowance.counted.held, 0)
})

test('large messages that use all their memory leave memory for small ones', () => {
  const allowance = createAllowance(2048 * KIB, 512 * KIB)
  const open = () => createMessageBuffer({ maxBytes: 1024 * KIB, allowance })
  const fill = (bytes: number) => {
    const buffer = open()
    buffer.write(Buffer.concat([Buffer.from('\r\n\r\n'), Buffer.alloc(bytes - 4, 'x')]))
    return buffer
  }
  const large = Array.from({ length: 4 }, () => fill(512 * KIB))
  const codes = large.map(({ finish }) => finishCode(finish))
  assert.deepEqual(codes, [250, 250, 250, 452])
  const small = [fill(100 * KIB), fill(200 * KIB)]
  assert.ok(small.every(({ finish }) => finishCode(finish) === 250))
  for (const buffer of [...large, ...small]) buffer.release()
  const [one, other] = [fill(800 * KIB), fill(700 * KIB)]
  assert.deepEqual([finishCode(one.finish), finishCode(other.finish)], [250, 250])
})

test('S3: a lone LF becomes CRLF where that is asked for, across portions; a lone CR is refused', () => {
  for (const text of ['a\nb', '\n.\n', 'a\r\n\nb', 'a\r\n.\r\n', '\n']) {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const allowance = createAllowance(64 * KIB)
      const buffer = createMessageBuffer({ maxBytes: KIB, allowance, mendsLineEnds: true })
      buffer.write(Buffer.from(text.slice(0, cut)))
      buffer.write(Buffer.from(text.slice(cut)))
      const whole = Buffer.concat(buffer.finish()).toString()
      assert.equal(whole, text.replace(/\r?\n/g, '\r\n'), JSON.stringify([text, cut]))
    }
  }
  for (const text of ['a\rb', 'a\r\r\n']) {
    const buffer = createMessageBuffer({
      ...{ maxBytes: KIB, allowance: createAllowance(64 * KIB), mendsLineEnds: true },
    })
    buffer.write(Buffer.from(text))
    assert.equal(
      finishCode(() => buffer.finish()),
      554,
    )
  }
})
