import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  type NumberRange,
  type RangeWalk,
  walkNumberRanges,
} from '../../../../../src/features/people/contacts/list/number-ranges.ts'
import { sql } from '../../../../../src/store/drizzle.ts'
import { addProject, openTestCore, type TestCore } from '../../../../core.ts'
import { cleanUpAfterFile } from '../../../../file-cleanup.ts'

/** Every third of these numbers is another project's. */
async function addNumbers({ store }: TestCore, own: string, other: string, count: number) {
  await store.write((tx) =>
    tx.run(sql`with recursive numbers (n) as
        (select 1 union all select n + 1 from numbers where n < ${count})
      insert into contacts (number, id, project_id, email, subscribed, created_at, updated_at)
      select n, 'id' || n, case when n % 3 = 0 then ${other} else ${own} end, n || '@x.test',
        n % 2, 0, 0 from numbers`),
  )
}

async function openNumbers(t: Parameters<typeof openTestCore>[0]) {
  const core = await openTestCore(t)
  const [own, other] = [(await addProject(core)).id, (await addProject(core, 'Other')).id]
  await addNumbers(core, own, other, 60_000)
  /** Returns the ranges of a project, with the given time for each. */
  async function walk(projectId: string, range: RangeWalk, tookMs: (at: number) => number) {
    let clock = 0
    const ranges: NumberRange[] = []
    const readRange = async (numberRange: NumberRange) => {
      clock += tookMs(ranges.length)
      return numberRange
    }
    const whole = { ...range, clock: () => clock }
    for await (const numberRange of walkNumberRanges(
      core,
      { scope: { projectId }, range: whole },
      readRange,
    )) {
      ranges.push(numberRange)
    }
    return ranges
  }
  const sizes = (ranges: readonly NumberRange[]) =>
    Promise.all(
      ranges.map(async ({ above, upTo }) => {
        const [row] = await core.store.read.values<[number]>(
          sql`select count(*) from contacts where project_id = ${own} and number > ${above}
            and number <= ${upTo}`,
        )
        return row?.[0]
      }),
    )
  return { own, other, walk, sizes }
}

/** All tests read these. */
let numbers: Awaited<ReturnType<typeof openNumbers>>
const cleanup = cleanUpAfterFile()

before(async () => {
  numbers = await openNumbers(cleanup)
})

test('ranges grow while they are fast, shrink when they are slow, and miss no contact', async () => {
  const { own, walk, sizes } = numbers
  assert.deepEqual(await sizes(await walk(own, {}, () => 100)), [10_000, 10_000, 10_000, 10_000, 0])
  assert.deepEqual(await sizes(await walk(own, {}, () => 30)), [10_000, 30_000, 0])
  assert.deepEqual(await sizes(await walk(own, {}, () => 1)), [10_000, 30_000])
  const slow = await walk(own, {}, (at) => (at === 0 ? 1_000 : 100))
  assert.deepEqual((await sizes(slow)).slice(0, 3), [10_000, 3_333, 3_333])
  const down = await walk(own, { dir: 'desc' }, () => 100)
  assert.deepEqual(await sizes(down), [10_000, 10_000, 10_000, 10_000, 0])
  assert.ok((down[0]?.upTo ?? 0) >= 60_000 && down.at(-1)?.above === 0)
  for (const [at, numberRange] of down.entries()) {
    if (at > 0) assert.equal(numberRange.upTo, down[at - 1]?.above)
  }
})

test('ranges start after a number and respect the maximum size', async () => {
  const { own, other, walk, sizes } = numbers
  const behind = await walk(own, { after: 45_000, maxSize: 4_000 }, () => 1)
  assert.equal(behind[0]?.above, 45_000)
  assert.deepEqual(await sizes(behind), [4_000, 4_000, 2_000])
  const down = await walk(own, { after: 45_001, dir: 'desc', maxSize: 20_000 }, () => 1)
  assert.equal(down[0]?.upTo, 45_000)
  assert.deepEqual(await sizes(down), [10_000, 20_000, 0])
  assert.equal((await walk(other, { after: 59_999 }, () => 1)).length, 1)
})
