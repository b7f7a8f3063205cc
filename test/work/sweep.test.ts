import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Tx } from '../../src/store/write/transaction.ts'
import { loadProgress } from '../../src/work/jobs/progress.ts'
import { type SweepPace, sweep, sweepPages, sweepRows } from '../../src/work/sweep.ts'
import { openJobs } from './jobs/job-loop.ts'
import { claimJob } from './jobs/running.ts'

const TEN: SweepPace = { rows: 10, rest: 'none' }
const LIGHT = { pace: TEN, heavyFor: undefined }

/** A store that only notes for whom it writes. */
function openNoted() {
  const writes: (string | undefined)[] = []
  const write = <T>(act: (tx: Tx) => Promise<T>, options?: { heavyFor?: string | undefined }) => {
    writes.push(options?.heavyFor)
    return act({} as Tx)
  }
  return { store: { write }, writes }
}

/** A change that takes up to `limit` of so many rows. */
function takeOf(count: number) {
  let left = count
  const limits: number[] = []
  const change = async (_: Tx, limit: number) => {
    limits.push(limit)
    const taken = Math.min(left, limit)
    left -= taken
    return taken
  }
  return { change, limits, left: () => left }
}

describe('a sweep', () => {
  it('ends after a batch that is short, and counts what it changed', async () => {
    const { store, writes } = openNoted()
    const { change } = takeOf(25)
    const rules = { pace: TEN, heavyFor: 'p', until: 'short' as const }
    assert.equal(await sweep({ store }, rules, change), 25)
    assert.deepEqual(writes, ['p', 'p', 'p'])
  })

  it('or only after one that changed nothing, or when it is told that none is left', async () => {
    const none = openNoted()
    assert.equal(await sweep(none, { ...LIGHT, until: 'none' }, takeOf(25).change), 25)
    assert.equal(none.writes.length, 4)
    const told = openNoted()
    const { change, left } = takeOf(25)
    const until = async () => left() === 0
    assert.equal(await sweep(told, { ...LIGHT, until }, change), 25)
    assert.equal(told.writes.length, 3)
    assert.equal(await sweep(told, { ...LIGHT, until }, change), 0)
    assert.equal(told.writes.length, 3)
  })

  it('tells each batch how much the ones before have changed', async () => {
    const befores: number[] = []
    const { change } = takeOf(25)
    await sweep(openNoted(), { ...LIGHT, until: 'short' }, (tx, limit, done) => {
      befores.push(done)
      return change(tx, limit)
    })
    assert.deepEqual(befores, [0, 10, 20])
  })

  it('doubles quick batches up to the largest', async () => {
    const { change, limits } = takeOf(1_000)
    const pace: SweepPace = { first: 50, max: 300, batchMs: 60_000, rest: 'none' }
    await sweep(openNoted(), { pace, heavyFor: undefined, until: 'short' }, change)
    assert.deepEqual(limits, [50, 100, 200, 300, 300, 300])
  })

  it('ends with its signal, and throws the reason of the signal of its job', async () => {
    const stopping = new AbortController()
    const { signal } = stopping
    const change = async (_: Tx, limit: number) => {
      stopping.abort(new Error('the end'))
      return limit
    }
    const noted = openNoted()
    assert.equal(await sweep(noted, { ...LIGHT, signal, until: 'short' }, change), 10)
    const job = { signal }
    await assert.rejects(sweep(noted, { ...LIGHT, job, until: 'short' }, change), /the end/)
    assert.equal(noted.writes.length, 1)
  })

  it('begins no batch after its time', async () => {
    const noted = openNoted()
    assert.equal(await sweep(noted, { ...LIGHT, forMs: 0, until: 'short' }, takeOf(25).change), 0)
    assert.equal(noted.writes.length, 0)
  })

  it('ends with the error of a batch', async () => {
    const change = async () => {
      throw new Error('no room')
    }
    await assert.rejects(sweep(openNoted(), { ...LIGHT, until: 'short' }, change), /no room/)
  })

  it('rests between two batches for the time that its pace says, and not after the last', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const noted = openNoted()
    const pace: SweepPace = { rows: 10, rest: { ms: 60 } }
    const done = sweep(noted, { pace, heavyFor: undefined, until: 'short' }, takeOf(15).change)
    await setImmediate()
    t.mock.timers.tick(59)
    await setImmediate()
    assert.equal(noted.writes.length, 1)
    t.mock.timers.tick(1)
    assert.equal(await done, 15)
    assert.equal(noted.writes.length, 2)
  })

  it('rests after each batch in proportion to its duration, until its signal ends that', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const noted = openNoted()
    const stopping = new AbortController()
    const pace: SweepPace = { rows: 10, rest: { times: 1_000_000 } }
    const rules = { pace, heavyFor: undefined, signal: stopping.signal, until: 'short' as const }
    const done = sweep(noted, rules, takeOf(15).change)
    await setImmediate()
    t.mock.timers.tick(999)
    await setImmediate()
    assert.equal(noted.writes.length, 1)
    t.mock.timers.tick(1)
    await setImmediate()
    assert.equal(noted.writes.length, 2)
    stopping.abort()
    assert.equal(await done, 15)
  })

  it('lets the event loop turn between two batches', async () => {
    const noted = openNoted()
    let turned = 0
    const pace: SweepPace = { rows: 10, rest: 'event loop' }
    const rules = { pace, heavyFor: undefined, until: 'short' as const }
    const done = sweep(noted, rules, takeOf(15).change)
    void setImmediate().then(() => {
      turned = noted.writes.length
    })
    await done
    assert.equal(turned, 1)
  })
})

describe('a sweep of rows that are found before', () => {
  const numbers = Array.from({ length: 25 }, (_, index) => index + 1)
  const find = async (limit: number, after: number) =>
    numbers.filter((number) => number > after).slice(0, limit)
  const change = async (_: Tx, rows: readonly number[]) => rows.at(-1) ?? 0

  it('finds behind the state of the batch before, until nothing is found', async () => {
    const noted = openNoted()
    assert.equal(await sweepRows(noted, LIGHT, { from: 0, find, change }), 25)
    assert.equal(noted.writes.length, 3)
    assert.equal(await sweepRows(noted, LIGHT, { from: 25, find, change }), 25)
    assert.equal(noted.writes.length, 3)
  })

  it('saves the state of each batch with it, so that the next run goes on there', async (t) => {
    const { store, now, add } = await openJobs(t, 'long')
    await add()
    const job = await claimJob({ store, now }, 'long')
    const seen: number[] = []
    const percentOf = (state: number) => 4 * state
    const run = (from: number, mayFail: boolean) =>
      sweepRows(
        { store },
        { pace: TEN, heavyFor: undefined },
        {
          from,
          find,
          progress: { job, now, percentOf },
          change: async (tx, rows) => {
            if (mayFail && rows.includes(15)) throw new Error('a crash')
            tx.afterCommit(() => seen.push(...rows))
            return change(tx, rows)
          },
        },
      )
    await assert.rejects(run(0, true), /a crash/)
    assert.equal(await loadProgress(store.read, job.id), 10)
    assert.equal(await run(10, false), 25)
    assert.deepEqual(seen, numbers)
    assert.equal(await loadProgress(store.read, job.id), 25)
  })

  it('ends when the job is to end', async (t) => {
    const { store, now, add } = await openJobs(t, 'long')
    await add()
    const job = await claimJob({ store, now }, 'long')
    job.abort.abort(new Error('The program is stopping.'))
    const progress = { job, now, percentOf: () => 0 }
    const work = { from: 0, find, change, progress }
    await assert.rejects(sweepRows({ store }, LIGHT, work), /stopping/)
    assert.equal(await loadProgress(store.read, job.id), undefined)
  })
})

describe('a sweep of pages', () => {
  async function* pagesOf(pages: readonly string[][], onEnd?: () => void) {
    try {
      yield* pages
    } finally {
      onEnd?.()
    }
  }
  const join = async (_: Tx, rows: readonly string[], state: string) => `${state}[${rows.join('')}]`

  it('cuts them into batches, and passes over empty ones', async () => {
    const noted = openNoted()
    const pages = pagesOf([['a', 'b', 'c', 'd', 'e'], [], ['f', 'g']])
    const pace: SweepPace = { rows: 2, rest: 'none' }
    const rules = { pace, heavyFor: 'p' }
    assert.equal(
      await sweepPages(noted, rules, { from: '', pages, change: join }),
      '[ab][cd][e][fg]',
    )
    assert.deepEqual(noted.writes, ['p', 'p', 'p', 'p'])
  })

  it('does what comes before each transaction', async () => {
    const order: string[] = []
    await sweepPages(openNoted(), LIGHT, {
      from: '',
      pages: [['a'], ['b']],
      prepare: async (rows) => void order.push(`before ${rows.join('')}`),
      change: async (_, rows) => {
        order.push(`in ${rows.join('')}`)
        return ''
      },
    })
    assert.deepEqual(order, ['before a', 'in a', 'before b', 'in b'])
  })

  it('ends with the state that says so, and reads no page after it', async () => {
    let isClosed = false
    const pages = pagesOf([['a'], ['b'], ['c']], () => {
      isClosed = true
    })
    const isOver = (state: string) => state.includes('b')
    const work = { from: '', pages, change: join, isOver }
    assert.equal(await sweepPages(openNoted(), LIGHT, work), '[a][b]')
    assert.equal(isClosed, true)
  })

  it('ends within pages that have nothing to do when its signal aborts', async () => {
    const stopping = new AbortController()
    const pages = (async function* () {
      for (;;) {
        stopping.abort()
        yield []
      }
    })()
    const rules = { ...LIGHT, signal: stopping.signal }
    assert.equal(await sweepPages(openNoted(), rules, { from: 'x', pages, change: join }), 'x')
  })
})
