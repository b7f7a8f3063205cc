import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addSuppressions } from '../../../../src/features/mail/suppressions/suppressions.ts'
import {
  countRecipients,
  viewAudience,
} from '../../../../src/features/outreach/campaigns/audience/count.ts'
import { countUncounted } from '../../../../src/features/outreach/campaigns/audience/total-recipients.ts'
import { createCampaign } from '../../../../src/features/outreach/campaigns/create-or-delete.ts'
import { updateCampaign } from '../../../../src/features/outreach/campaigns/update.ts'
import { addMembers } from '../../../../src/features/people/segments/edit-members.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { parseAddress } from '../../../../src/formats/address/address.ts'
import { campaigns } from '../../../../src/store/schema/campaigns.ts'
import { addProject, openTestCore, type TestCore, trustDomain } from '../../../core.ts'
import { addCampaign, addContacts, loadCampaignRow } from './sending/campaign.ts'

type Hooks = Parameters<typeof openTestCore>[0]

/** Ten contacts, numbered from 0: 0 and 1 unsubscribed, 1 and 2 suppressed, the even ones `pro`. */
async function openAudience(t: Hooks) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  const ids = await addContacts(
    core,
    projectId,
    Array.from({ length: 10 }, (_, index) => ({
      address: `p${index}@people.test`,
      subscribed: index > 1,
      data: { plan: index % 2 === 0 ? 'pro' : 'free' },
    })),
  )
  await suppress(core, projectId, ['p1@people.test', 'p2@people.test', 'nobody@people.test'])
  return { core, projectId, ids }
}

async function suppress(core: TestCore, projectId: string, addresses: readonly string[]) {
  const parsed = addresses.flatMap((address) => parseAddress(address) ?? [])
  await addSuppressions(core, { projectId, addresses: parsed, reason: 'MANUAL' })
}

const isPro = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
} as const

const everybody = { audienceType: 'ALL', audienceCondition: null, segmentId: null } as const

const fields = () => {
  const from = parseAddress('news@shop.test')
  assert.ok(from)
  return { name: 'Spring', subject: 'Hi', body: '<p>Hi</p>', from }
}

test('the audience is counted: whom it matches, who is suppressed, unsubscribed or gets it', async (t) => {
  const { core, projectId, ids } = await openAudience(t)
  const segment = await createSegment(core, { projectId, name: 'Few', type: 'STATIC' })
  const emails = ['p0@people.test', 'p2@people.test', 'p3@people.test']
  await addMembers(core, { projectId, id: segment.id, emails })
  const audiences = [
    everybody,
    { ...everybody, audienceType: 'FILTERED', audienceCondition: isPro },
    { ...everybody, audienceType: 'SEGMENT', segmentId: segment.id },
  ] as const
  const counts = []
  for (const type of ['MARKETING', 'TRANSACTIONAL'] as const) {
    for (const audience of audiences) {
      const campaign = { projectId, type, ...audience }
      const view = await viewAudience(core, campaign)
      const { matching, suppressed, unsubscribed, willReceive, unsubscribedRecipients } = view
      assert.equal(await countRecipients(core, campaign), willReceive)
      counts.push([matching, suppressed, unsubscribed, willReceive, unsubscribedRecipients])
    }
  }
  assert.deepEqual(counts, [
    [10, 2, 1, 7, 0],
    [5, 1, 1, 3, 0],
    [3, 1, 1, 1, 0],
    [10, 2, 0, 8, 1],
    [5, 1, 0, 4, 1],
    [3, 1, 0, 2, 1],
  ])
  const { sample } = await viewAudience(core, { projectId, type: 'MARKETING', ...audiences[1] })
  assert.deepEqual(
    sample.map(({ id }) => id),
    [ids[4], ids[6], ids[8]],
  )
})

test('more suppressions than one stretch are all counted', async (t) => {
  const { core, projectId } = await openAudience(t)
  const many = Array.from({ length: 10_500 }, (_, index) => `gone${index}@people.test`)
  for (let from = 0; from < many.length; from += 500) {
    await suppress(core, projectId, many.slice(from, from + 500))
  }
  const { matching, suppressed } = await viewAudience(core, {
    ...{ projectId, type: 'MARKETING' },
    ...everybody,
  })
  assert.deepEqual([matching, suppressed], [10, 2])
})

test('the record has the number of recipients from the start, and after a change', async (t) => {
  const { core, projectId } = await openAudience(t)
  const made = await createCampaign(core, { projectId, ...fields(), audienceType: 'ALL' })
  assert.equal(made.totalRecipients, 7)
  const key = { projectId, id: made.id }
  const changes = { audienceType: 'FILTERED', audienceCondition: isPro } as const
  const filtered = await updateCampaign(core, { ...key, changes })
  assert.equal(filtered.totalRecipients, 3)
  const forAll = await updateCampaign(core, { ...key, changes: { type: 'TRANSACTIONAL' } })
  assert.equal(forAll.totalRecipients, 4)
})

test('audiences that were not counted are counted later, and a lost segment harms no other', async (t) => {
  const { core, projectId } = await openAudience(t)
  const lost = await addCampaign(core, projectId, {
    audienceType: 'SEGMENT',
    segmentId: '01890a5d-ac96-774b-bcce-b302099a8057',
  })
  const draft = await addCampaign(core, projectId)
  const sent = await addCampaign(core, projectId, { status: 'SENT' })
  await countUncounted(core, new AbortController().signal)
  const totals = []
  for (const id of [lost, draft, sent]) {
    totals.push((await loadCampaignRow(core, id)).totalRecipients)
  }
  assert.deepEqual(totals, [null, 7, null])
})

test('a count does not reach a campaign that was changed meanwhile', async (t) => {
  const { core, projectId } = await openAudience(t)
  const id = await addCampaign(core, projectId)
  const write: TestCore['store']['write'] = async (work, options) => {
    await core.store.write((tx) => tx.update(campaigns).set({ version: 2 }))
    return core.store.write(work, options)
  }
  const deps = { ...core, store: { ...core.store, write } }
  await countUncounted(deps, new AbortController().signal)
  assert.equal((await loadCampaignRow(core, id)).totalRecipients, null)
})
