import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { anyCharacter } from '../any-character.ts'
import { PATIENCE_MS } from '../patience.ts'
import { connect, type Dialogue } from './dialogue.ts'
import { type InboundServer, openInbound } from './inbound-server.ts'

/** No limit of time ends a dialogue, however slow the machine is. */
const limits = { connectionsPerAddress: 500 }
const PAUSE_MS = 4
/** Longer than any reply takes on a busy machine. */
const REPLY_MS = 500
const MIB = 1024 * 1024

type Pieces = readonly (string | Buffer)[]

/** Sends all portions and waits for the replies that are due. Returns all replies. */
async function converse({ port }: InboundServer, pieces: Pieces, from: string): Promise<string> {
  const client = await connect(port, { from })
  let said = ''
  client.socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1')
  })
  await client.read()
  let unanswered = ''
  for (const piece of pieces) {
    unanswered += piece.toString('latin1')
    const wanted = repliesIn(said) + repliesTo(unanswered, said)
    const isAsking = wanted > repliesIn(said)
    client.write(piece)
    const isAnswered = () => isAsking && repliesIn(said) >= wanted
    await drained(client, isAnswered, isAsking ? REPLY_MS : PAUSE_MS)
    if (isAsking) unanswered = ''
  }
  await drained(client, () => false, 10 * PAUSE_MS)
  client.socket.end()
  const late = sleep(PATIENCE_MS, false, { ref: false })
  const isOver = await Promise.race([client.ended().then(() => true), late])
  client.close()
  assert.ok(isOver, 'the server hangs')
  return said
}

/** Counts the complete replies by their last lines. */
const repliesIn = (said: string) => said.match(/^\d{3}(?: .*)?\r$/gm)?.length ?? 0

/** Counts the replies of a valid dialogue: one per command and one per message. */
function repliesTo(sent: string, said: string): number {
  if (/(?:^|\n)354 [^\n]*\n$/.test(said)) return sent.endsWith('\r\n.\r\n') ? 1 : 0
  return sent.endsWith('\r\n') ? sent.split('\r\n').length - 1 : 0
}

/** Waits until the condition holds or the server has closed the connection, with a time limit. */
async function drained({ socket }: Dialogue, holds: () => boolean, forMs: number): Promise<void> {
  if (socket.closed) return
  const over = Promise.withResolvers<void>()
  const hear = () => void (holds() && over.resolve())
  const giveUp = setTimeout(over.resolve, forMs)
  socket.on('data', hear).once('close', over.resolve)
  await over.promise
  clearTimeout(giveUp)
  socket.off('data', hear).off('close', over.resolve)
}

/** Runs all dialogues at once. The server survives, stores what it acknowledged and forgets the rest. */
async function runAll(t: TestContext, dialogues: readonly Pieces[]) {
  const server = await openInbound(t, { limits })
  const before = process.memoryUsage()
  // Each from its own network, because the messages of one network to postmaster are limited.
  const saying = dialogues.map((one, index) => converse(server, one, `127.0.${index}.1`))
  const replies = (await Promise.all(saying)).join('')
  const kept = (await server.rows()).map(({ id }) => id)
  const acknowledged = [...replies.matchAll(/^250 2\.0\.0 Ok: stored as (\S+)\r$/gm)].map(
    ([, id]) => id,
  )
  for (const id of acknowledged)
    assert.ok(kept.includes(id ?? ''), `${id} was acknowledged and is not there`)
  const after = process.memoryUsage()
  const grown = after.heapUsed + after.external - before.heapUsed - before.external
  assert.ok(grown < 100 * MIB, `${grown} bytes more`)
  for (const line of replies.split('\r\n').slice(0, -1)) assert.match(line, /^[2345]\d\d[ -]/)
  const next = await server.dial()
  await next.open('', server.returnPath)
  assert.equal((await next.data('Subject: alive\r\n\r\n')).code, 250)
  return { acknowledged, server }
}

/** A fixed seed gives the same dialogues on each run. */
const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number) =>
  fc.sample(arbitrary, { numRuns: count, seed: 20_261_121 })

const verbs = ['EHLO', 'HELO', 'MAIL', 'RCPT', 'DATA', 'RSET', 'NOOP', 'QUIT', 'VRFY', 'HELP']
const others = ['STARTTLS', 'BDAT', 'AUTH', 'XCLIENT', 'LHLO', 'EXPN', 'ETRN', 'constructor', '']
const argument = fc.oneof(
  fc.constantFrom('', ' FROM:<>', ' FROM:<a@b.test>', ' TO:<postmaster>', ' client.test', ':'),
  fc.constantFrom(' FROM:<> SIZE=99999999999', ' TO:<a@b.test> NOTIFY=NEVER,NEVER', ' 5 LAST'),
  fc.string({ maxLength: 60 }),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
)
const lineEnd = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r', '')
const command = fc
  .tuple(fc.constantFrom(...verbs, ...others), argument, lineEnd)
  .map(([verb, rest, end]) => `${verb}${rest}${end}`)

test('random commands neither hang nor crash the server and leave nothing in memory', async (t) => {
  await runAll(t, sample(fc.array(command, { maxLength: 40 }), 150))
})

test('random octets neither hang nor crash the server and leave nothing in memory', async (t) => {
  const octets = fc.uint8Array({ maxLength: 4_000 }).map((bytes) => Buffer.from(bytes))
  await runAll(t, sample(fc.array(octets, { maxLength: 6 }), 80))
})

test('a valid dialogue, cut, doubled or changed anywhere, never gets a 250 without a row', async (t) => {
  const right = [
    'EHLO client.test\r\n',
    'MAIL FROM:<>\r\n',
    'RCPT TO:<postmaster>\r\n',
    'DATA\r\n',
    'Subject: x\r\n\r\nbody\r\n',
    '.\r\n',
    'MAIL FROM:<a@sender.test>\r\nRCPT TO:<postmaster>\r\nDATA\r\n',
    'second\r\n.\r\n',
    'QUIT\r\n',
  ]
  const change = fc.record({
    at: fc.nat(right.length - 1),
    kind: fc.constantFrom('none', 'drop', 'double', 'cut', 'insert', 'replace'),
    text: fc.oneof(command, fc.constantFrom('.\r\n', '\r\n', '\n.\n', '\r\n.\r\n', '\0')),
    offset: fc.nat(20),
  })
  const dialogues = sample(fc.array(change, { maxLength: 3 }), 120).map((changes) => {
    const pieces = [...right]
    for (const { at, kind, text, offset } of changes) {
      const piece = pieces[at] ?? ''
      if (kind === 'drop') pieces.splice(at, 1)
      if (kind === 'double') pieces.splice(at, 0, piece)
      if (kind === 'cut') pieces[at] = piece.slice(0, offset)
      if (kind === 'insert') pieces[at] = piece.slice(0, offset) + text + piece.slice(offset)
      if (kind === 'replace') pieces[at] = text
    }
    return pieces
  })
  const { acknowledged } = await runAll(t, dialogues)
  assert.ok(
    acknowledged.length > 100,
    `${acknowledged.length} messages got through: too few to tell`,
  )
})
