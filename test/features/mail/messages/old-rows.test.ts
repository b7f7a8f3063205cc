import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import {
  createWalk,
  type OldRowsSpan,
  walkOld,
} from '../../../../src/features/mail/messages/old-rows.ts'
import { createIdSource } from '../../../../src/store/ids.ts'
import { START } from '../../../core.ts'

const PAGE = 2

/** Rows of the last `days` days, the oldest first, and the pages that a run looks at. */
function openRows(days: number) {
  const ids = Array.from({ length: days }, (_, day) =>
    createIdSource(() => START - (days - day) * DAY_MS)(),
  )
  const walk = createWalk()
  const late = new Set<string | undefined>()
  async function run(before: number): Promise<number[][]> {
    const seen: number[][] = []
    const look = async ({ after, until }: OldRowsSpan) => {
      const page = ids.filter((id) => id > after && id < until).slice(0, PAGE)
      seen.push(page.map((id) => ids.indexOf(id)))
      const last = page.length < PAGE ? undefined : page.at(-1)
      return { last, isLate: page.some((id) => late.has(id)) }
    }
    await walkOld(walk, { before, look })
    return seen
  }
  return { ids, late, run }
}

test('each row is looked at once, but for the last page, and those of the last hour before the limit', async () => {
  const { run } = openRows(9)
  assert.deepEqual(await run(START - 4.5 * DAY_MS), [[0, 1], [2, 3], [4]])
  assert.deepEqual(await run(START - 4.5 * DAY_MS), [[4]])
  const afterTheSixth = START - 4 * DAY_MS + 1
  assert.deepEqual(await run(afterTheSixth), [[4, 5], []])
  assert.deepEqual(await run(afterTheSixth), [[4, 5], []])
  assert.deepEqual(await run(START), [[4, 5], [6, 7], [8]])
})

test('a page with a row that must stay is looked at in each run until it may go', async () => {
  const { ids, late, run } = openRows(5)
  late.add(ids[1])
  assert.deepEqual(await run(START), [[0, 1], [2, 3], [4]])
  assert.deepEqual(await run(START), [[0, 1], [4]])
  late.clear()
  assert.deepEqual(await run(START), [[0, 1], [4]])
  assert.deepEqual(await run(START), [[4]])
})

test('a clock that is set back forgets no row that must stay', async () => {
  const { ids, late, run } = openRows(5)
  late.add(ids[1])
  await run(START)
  assert.deepEqual(await run(START - 4.5 * DAY_MS), [])
  assert.deepEqual(await run(START), [[0, 1], [4]])
})
