import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { sql } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { parameter, statement } from '../../../src/store/statement.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { notes, openTestStore } from '../test-store.ts'

const insertNote = statement((db) =>
  db.insert(notes).values({ id: parameter('id'), seq: parameter('seq'), body: parameter('body') }),
)

type Kind = 'plain' | 'prepared' | 'overlapping' | 'forgetful' | 'caught' | 'failing' | 'late'
type Plan = { kind: Kind; notes: number }
/** One run of a closure: its number and the number of notes that it found. */
type Run = { run: number; found: number }
/** The runs of one closure as its caller saw them. */
type Trace = { runs: number; committed: number[]; failedAt: Run | undefined }

const works: Kind[] = ['plain', 'prepared', 'overlapping', 'forgetful', 'caught']
const failures: Kind[] = ['failing', 'late']
const plan = (kinds: Kind[]) =>
  fc.record({ kind: fc.constantFrom(...kinds), notes: fc.integer({ min: 0, max: 4 }) })
const anything = fc.oneof(
  { weight: 3, arbitrary: plan(works) },
  { weight: 2, arbitrary: plan(failures) },
)
const seldomFailing = fc.oneof(
  { weight: 12, arbitrary: plan(works) },
  { weight: 1, arbitrary: plan(failures) },
)
const plans = fc.oneof(
  fc.array(anything, { maxLength: 30 }),
  fc.array(seldomFailing, { maxLength: 40 }),
)

test('exactly the writes of resolved closures are stored, once and in order', async (t) => {
  const store = await openTestStore(t)
  const property = fc.asyncProperty(plans, async (list) => {
    await store.write(async (tx) => {
      await tx.delete(notes)
    })
    const traces = list.map((): Trace => ({ runs: 0, committed: [], failedAt: undefined }))
    const results = await Promise.allSettled(
      list.map((_, index) => store.write((tx) => carryOut(tx, { list, traces, index }))),
    )
    const expected = list.flatMap((_, index) => expectedNotes({ list, traces, index }, results))
    assert.deepEqual(await storedNotes(store), expected)
  })
  await fc.assert(property, { numRuns: 80 })
})

type Case = { list: Plan[]; traces: Trace[]; index: number }

async function carryOut(tx: Tx, { list, traces, index }: Case): Promise<Run> {
  const { kind, notes: count } = list[index]!
  const trace = traces[index]!
  trace.runs += 1
  const at = { run: trace.runs, found: await tx.$count(notes) }
  tx.afterCommit(() => trace.committed.push(at.run))
  const rows = Array.from({ length: count }, (_, n) => toNote(index * 10 + n, at))
  await addNotes(tx, kind, rows)
  if (failures.includes(kind)) trace.failedAt = at
  if (kind === 'failing') throw new Error('as planned')
  if (kind === 'late') await turn()
  if (kind === 'forgetful') loseTime(tx).catch(assertTypeError)
  return at
}

type Note = { id: string; seq: number; body: string }

function toNote(seq: number, { run }: Run): Note {
  return { id: `${seq}`, seq, body: `run ${run}` }
}

async function addNotes(tx: Tx, kind: Kind, rows: Note[]): Promise<void> {
  const add = (row: Note) => tx.insert(notes).values(row).execute()
  if (kind === 'overlapping') await Promise.all(rows.map(add))
  else if (kind === 'prepared') for (const row of rows) await tx.execute(insertNote, row)
  else for (const row of rows) await add(row)
  if (kind === 'caught' && rows[0] !== undefined) await assert.rejects(add(rows[0]))
}

/** Continues after its closure has settled; its later insert must not be stored. */
async function loseTime(tx: Tx): Promise<void> {
  for (let i = 0; i < 10; i += 1) await null
  await tx.insert(notes).values({ id: newId(), seq: -1 })
}

function assertTypeError(error: unknown): void {
  assert.ok(error instanceof TypeError)
}

/** The notes that closure must have left; its caller, callbacks and runs are held to that. */
function expectedNotes(of: Case, results: PromiseSettledResult<Run>[]): Note[] {
  const { list, traces, index } = of
  const { kind, notes: count } = list[index]!
  const { runs, committed, failedAt } = traces[index]!
  const result = results[index]!
  const before = list.slice(0, index).reduce((sum, earlier) => sum + keptCount(earlier), 0)
  assert.ok(runs === 1 || runs === 2, `${runs} runs`)
  if (failures.includes(kind)) {
    assert.ok(result.status === 'rejected', kind)
    assert.equal(result.reason instanceof TypeError, kind === 'late')
    assert.deepEqual([committed, failedAt], [[], { run: 1, found: before }])
    return []
  }
  assert.ok(result.status === 'fulfilled', kind)
  assert.deepEqual(result.value, { run: runs, found: before })
  assert.deepEqual(committed, [runs])
  return Array.from({ length: count }, (_, n) => toNote(index * 10 + n, result.value))
}

function keptCount({ kind, notes: count }: Plan): number {
  return failures.includes(kind) ? 0 : count
}

async function storedNotes(store: Store): Promise<Note[]> {
  const rows = await store.read.values<[string, number, string]>(
    sql`select id, seq, body from notes order by rowid`,
  )
  return rows.map(([id, seq, body]) => ({ id, seq, body }))
}
