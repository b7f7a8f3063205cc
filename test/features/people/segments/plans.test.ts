/** Queries of segments use an index, so their cost does not depend on the size of the project. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeSegment } from '../../../../src/features/people/segments/compute.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { refreshSegment } from '../../../../src/features/people/segments/segment-contacts.ts'
import { type SQL, sql } from '../../../../src/store/drizzle.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'
import { listSegmentContacts } from '../../../lists.ts'
import { inSegment, planIs } from './segment-contacts.ts'

/** A core that records its scans. */
function watching(core: TestCore): { core: TestCore; queries: SQL[] } {
  const queries: SQL[] = []
  const watched = (run: (query: SQL) => unknown) => ({
    value: (query: SQL) => {
      queries.push(query)
      return run(query)
    },
  })
  const { scan } = core.store
  const watching: TestCore['store']['scan'] = Object.create(scan, {
    values: watched((query) => scan.values(query)),
    all: watched((query) => scan.all(query)),
  })
  return { core: { ...core, store: { ...core.store, scan: watching } }, queries }
}

test('F9: no query over contacts or members reads rows of other projects or segments', async (t) => {
  const { core, queries } = watching(await openTestCore(t))
  const { id: projectId } = await addProject(core)
  const list = await createSegment(core, { projectId, name: 'List', type: 'STATIC' })
  const tracked = { projectId, name: 'Pro', condition: planIs('pro'), hasMembershipEvents: true }
  const pro = await createSegment(core, tracked)
  const upper = {
    projectId,
    name: 'Both',
    condition: inSegment(list.id),
    hasMembershipEvents: true,
  }
  const both = await createSegment(core, upper)
  for (const { id } of [list, pro, both]) {
    await listSegmentContacts(core, { projectId, id, page: 3 })
    await refreshSegment(core, { projectId, id })
    await computeSegment(core, { projectId, id })
  }
  assert.ok(queries.length >= 12)
  for (const query of queries) {
    const plan = await core.store.read.all<{ detail: string }>(sql`explain query plan ${query}`)
    const details = plan.map(({ detail }) => detail)
    assert.ok(details.length > 0)
    const scanned = details.filter((detail) =>
      /SCAN (contacts|segment_members|events|segments)/.test(detail),
    )
    assert.deepEqual(scanned, [], details.join('\n'))
    assert.ok(!details.some((detail) => detail.includes('AUTOMATIC')), details.join('\n'))
  }
})

test('pages come from an index in their order, without sorting', async (t) => {
  const { core, queries } = watching(await openTestCore(t))
  const { id: projectId } = await addProject(core)
  const list = await createSegment(core, { projectId, name: 'List', type: 'STATIC' })
  const pro = await createSegment(core, { projectId, name: 'Pro', condition: planIs('pro') })
  queries.length = 0
  await listSegmentContacts(core, { projectId, id: pro.id })
  await listSegmentContacts(core, { projectId, id: list.id })
  const [stretchEnd, dynamicPage, staticPage] = await Promise.all(
    queries.map((query) =>
      core.store.read.all<{ detail: string }>(sql`explain query plan ${query}`),
    ),
  )
  const sorts = (plan: { detail: string }[] | undefined) =>
    plan?.filter(({ detail }) => detail.includes('TEMP B-TREE')).length
  assert.equal(sorts(stretchEnd), 0)
  assert.equal(sorts(dynamicPage), 0)
  // The page is sorted once more after its contacts are joined.
  assert.ok(staticPage?.some(({ detail }) => detail.includes('segment_members_newest')))
  const members = staticPage?.findIndex(({ detail }) => detail.includes('segment_members_newest'))
  const before = staticPage?.slice(0, members)
  assert.equal(sorts(before), 0)
})
