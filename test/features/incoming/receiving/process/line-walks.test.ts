import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLineWalks } from '../../../../../src/features/incoming/receiving/process/lines.ts'
import { startProcessing } from '../../../../../src/features/incoming/receiving/process/process.ts'
import { readIncomingHeader } from '../../../../../src/formats/incoming/header.ts'
import { readReport } from '../../../../../src/formats/report/read-report.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { inboundMessages, inboundReading } from '../../../../../src/store/schema/inbound.ts'
import { openTestCore } from '../../../../core.ts'

type TestCore = Awaited<ReturnType<typeof openTestCore>>

const nameOf = (line: number) => `p${String(line).padStart(4, '0')}`

/** Mail in line after line, the oldest first. */
async function fill(core: TestCore, { lines, each }: { lines: number; each: number }) {
  await core.store.write(async (tx) => {
    await tx.update(inboundReading).set({ isUnderWay: false }).run()
    const rows = Array.from({ length: lines * each }, (_, index) => {
      const line = nameOf(Math.floor(index / each))
      return {
        ...{ id: newId(), receivedAt: 1, reversePath: '', recipients: [], clientAddress: '' },
        ...{ clientName: '', sizeBytes: 4, raw: Buffer.from(`A: ${line}`) },
        ...({ state: 'pending', pendingKind: 'mail', line } as const),
      }
    })
    for (let from = 0; from < rows.length; from += 100) {
      await tx.insert(inboundMessages).values(rows.slice(from, from + 100))
    }
  })
}

/** Processes all mail; returns the line of each message in the order of their reading. */
async function readAll(core: TestCore): Promise<string[]> {
  const read: string[] = []
  const processing = await startProcessing(core, {
    read: async ({ raw }) => {
      const octets = Buffer.from(raw)
      read.push(octets.toString().slice(3))
      const header = readIncomingHeader(octets)
      const report = readReport(octets)
      return { report, header, automatic: null, mail: null, kept: null, durationMs: 1 }
    },
  })
  await processing.idle()
  await processing.stop()
  return read
}

test('S31: walks go on where the last one ended, so that any number of lines have their turn', async (t) => {
  for (const lines of [1, 9, 10, 11, 25, 31]) {
    const core = await openTestCore(t)
    await fill(core, { lines, each: 3 })
    const walks = createLineWalks(core)
    const listed = new Map<string, number>()
    const list = async () => {
      const window = { kind: 'mail', limit: 10, ofLine: 8 } as const
      const rows = await walks.list(window)
      assert.ok(rows.length > 0 && rows.length <= 10)
      assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
      return new Set(rows.map(({ line }) => line))
    }
    // Nothing ends: the messages of every walk stay pending.
    const rounds = 6
    const times = rounds * Math.ceil(lines / 9)
    for (let time = 0; time < times; time += 1)
      for (const line of await list()) listed.set(line, (listed.get(line) ?? 0) + 1)
    assert.equal(listed.size, lines)
    assert.ok(Math.min(...listed.values()) >= rounds - 1, JSON.stringify([...listed]))
  }
})

test('a walk that begins behind the last mail finds the mail before it', async (t) => {
  const core = await openTestCore(t)
  await fill(core, { lines: 12, each: 1 })
  const walks = createLineWalks(core)
  const list = () => walks.list({ kind: 'mail', limit: 10, ofLine: 8 })
  assert.equal((await list()).length, 10)
  await core.store.write((tx) =>
    tx
      .update(inboundMessages)
      .set({ state: 'processed' })
      .where(sql`line > ${nameOf(3)}`)
      .run(),
  )
  assert.deepEqual(
    (await list()).map(({ line }) => line),
    [0, 1, 2, 3].map(nameOf),
  )
  await core.store.write((tx) => tx.update(inboundMessages).set({ state: 'processed' }).run())
  assert.deepEqual(await list(), [])
})

test('S31: mail of a project is read in its turn, however many projects have older mail', async (t) => {
  const core = await openTestCore(t)
  const lines = 200
  await fill(core, { lines, each: 3 })
  const read = await readAll(core)
  assert.equal(read.length, lines * 3)
  const firsts = Array.from({ length: lines }, (_, line) => read.indexOf(nameOf(line)))
  const last = Math.max(...firsts)
  assert.ok(last < 2 * lines, `the last line began after ${last} messages`)
  const pending = await core.store.read
    .select({ id: inboundMessages.id })
    .from(inboundMessages)
    .where(eq(inboundMessages.state, 'pending'))
  assert.deepEqual(pending, [])
})

test('large mail has its turn before small mail that is behind it', async (t) => {
  const small = Array.from({ length: 6 }, (_, line) => nameOf(line))
  for (const large of [nameOf(0), nameOf(2), nameOf(5)]) {
    const core = await openTestCore(t)
    await fill(core, { lines: small.length, each: 1 })
    await core.store.write((tx) =>
      tx
        .update(inboundMessages)
        .set({ sizeBytes: 40 * 1024 * 1024 })
        .where(eq(inboundMessages.line, large))
        .run(),
    )
    assert.deepEqual(await readAll(core), small)
  }
})

test('after a crash, the first messages of every line are suspects', async (t) => {
  const core = await openTestCore(t)
  await fill(core, { lines: 320, each: 1 })
  await core.store.write((tx) => tx.update(inboundReading).set({ isUnderWay: true }).run())
  const processing = await startProcessing(core, { read: () => new Promise(() => undefined) })
  await processing.stop()
  const isSuspect = eq(inboundMessages.isSuspect, true)
  assert.equal(await core.store.read.$count(inboundMessages, isSuspect), 320)
})
