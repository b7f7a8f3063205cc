/** Conditions on the email of one campaign. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AppError } from '../../../../src/base/errors.ts'
import { compileCondition } from '../../../../src/features/ground/conditions/compile.ts'
import {
  type Condition,
  parseCondition,
} from '../../../../src/features/ground/conditions/condition.ts'
import { findMisfits } from '../../../../src/features/ground/conditions/find-misfits.ts'
import { requireReferences } from '../../../../src/features/people/segments/references.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { addCampaign } from '../../outreach/campaigns/add-campaign.ts'
import { openCampaign } from '../../outreach/campaigns/figures/sent-campaign.ts'

const all = (...filters: object[]) =>
  parseCondition({ logic: 'AND', groups: [{ filters }] }, 'condition')

/**
 * Campaign one went to p1, p2 and p3, campaign two to p4; p1 and p4 opened, p5 got a single email and opened
 * that.
 */
async function open(t: TestContext) {
  const stage = await openCampaign(t)
  const { core, key } = stage
  const { projectId } = key
  const other = await addCampaign(core, { projectId })
  const ofOne = await stage.add(3)
  const ofTwo = await stage.add(1, other)
  const single = await stage.add(1, null as never)
  const all = [...ofOne, ...ofTwo, ...single]
  for (const id of all) await stage.settle(id, 'delivered')
  core.clock.now += 60_000
  for (const emailId of [ofOne[0], ofTwo[0], single[0]]) {
    await stage.hit({ type: 'open', emailId: emailId ?? '', at: core.now(), isMachine: false })
  }
  const select = async (condition: Condition) => {
    const expression = await compileCondition(core, { projectId, condition })
    const query = sql`select email from contacts indexed by contacts_order
      where project_id = ${projectId} and (${expression}) order by email`
    const rows = await core.store.scan.values<[string]>(query)
    const steps = await core.store.scan.values<unknown[]>(sql`explain query plan ${query}`)
    return {
      names: rows.map(([email]) => email.slice(0, 2)).join(' '),
      plan: steps.map((step) => String(step[3])),
    }
  }
  return { ...stage, projectId, one: key.id, other, select }
}

test('a filter may mean the email of one campaign', async (t) => {
  const { one, other, select, core } = await open(t)
  const opened = { field: 'email.opened', operator: 'triggered' }
  const cases: [object[], string][] = [
    [[opened], 'p1 p4 p5'],
    [[{ ...opened, campaignId: one }], 'p1'],
    [[{ ...opened, campaignId: other.toUpperCase() }], 'p4'],
    [[{ ...opened, field: 'email.open', campaignId: one }], 'p1'],
    [[{ ...opened, field: 'event.email.opened', campaignId: one }], 'p1'],
    [[{ ...opened, operator: 'notTriggered', campaignId: one }], 'p2 p3 p4 p5'],
    [
      [
        { field: 'email.sent', operator: 'triggered', campaignId: one },
        { ...opened, operator: 'notTriggered', campaignId: one },
      ],
      'p2 p3',
    ],
    [[{ field: 'email.delivered', operator: 'triggered', campaignId: one }], 'p1 p2 p3'],
    [[{ field: 'email.clicked', operator: 'triggered', campaignId: one }], ''],
    [[{ ...opened, campaignId: newId() }], ''],
  ]
  for (const [filters, names] of cases) {
    assert.equal((await select(all(...filters))).names, names, JSON.stringify(filters))
  }
  core.clock.now += 120_000
  const within = { ...opened, operator: 'triggeredWithin', value: 1, unit: 'minutes' }
  assert.equal((await select(all({ ...within, campaignId: one }))).names, '')
  assert.equal((await select(all({ ...within, value: 5, campaignId: one }))).names, 'p1')
})

test('the email is found by the index of its campaign and its contact', async (t) => {
  const { one, select } = await open(t)
  const opened = { field: 'email.opened', operator: 'triggered', campaignId: one }
  const { plan } = await select(all(opened))
  const narrowed = plan.filter((step) =>
    /SEARCH emails USING .*INDEX emails_campaign \(/.test(step),
  )
  assert.ok(narrowed.length >= 2, plan.join('\n'))
  assert.ok(
    plan.some((step) => step.includes('emails_campaign (campaign_id=? AND contact_id=?)')),
    plan.join('\n'),
  )
  const { plan: negative } = await select(all({ ...opened, operator: 'notTriggered' }))
  assert.ok(!negative.some((step) => /SCAN (?:emails|events)/.test(step)), negative.join('\n'))
})

test('five hundred of them fit into a statement', async (t) => {
  const { one, select } = await open(t)
  const opened = { field: 'email.opened', operator: 'triggered' }
  const filters = Array.from({ length: 499 }, () => ({ ...opened, campaignId: newId() }))
  const groups = [...filters, { ...opened, campaignId: one }].map((filter) => ({
    filters: [filter],
  }))
  const { names } = await select(parseCondition({ logic: 'OR', groups }, 'condition'))
  assert.equal(names, 'p1')
})

test('only what happens to the emails of campaigns takes a campaign, and only a UUID', () => {
  const campaignId = newId()
  for (const [filter, says] of [
    [{ field: 'event.signup', operator: 'triggered', campaignId }, /Only email\.<activity>/],
    [{ field: 'event.email.received', operator: 'triggered', campaignId }, /Only email/],
    [{ field: 'data.plan', operator: 'exists', campaignId }, /Only email/],
    [{ field: 'email.opened', operator: 'triggered', campaignId: 'x' }, /Not a UUID/],
    [{ field: 'email.opened', operator: 'triggered', campaignId: 5 }, /Not a UUID/],
  ] as const) {
    assert.throws(
      () => all(filter),
      ({ fields }: AppError) =>
        fields?.[0]?.field === 'condition.groups.0.filters.0.campaignId' &&
        says.test(fields[0].message),
    )
  }
})

test('a condition names a campaign of the project, and a check says if it has sent nothing', async (t) => {
  const { core, projectId, one, count } = await open(t)
  await count()
  const opened = { field: 'email.opened', operator: 'triggered' }
  const require = (campaignId: string) =>
    requireReferences(core.store.read, { projectId, condition: all({ ...opened, campaignId }) })
  await require(one)
  await assert.rejects(require(newId()), /a campaign that this project does not have/)
  const codes = async (campaignId: string) => {
    const condition = all({ ...opened, campaignId })
    return (await findMisfits(core, { projectId, condition })).map(({ code }) => code)
  }
  assert.deepEqual(await codes(one), [])
  assert.deepEqual(await codes(newId()), ['filter_unsent_campaign'])
})

const unsent = [
  ['DRAFT', 'has not been sent', /^Nothing, if it is sent later/],
  ['SCHEDULED', 'has not been sent', /^Nothing, if it is sent later/],
  ['SENDING', 'has sent nothing so far', /^Nothing, if it is sent later/],
  ['SENT', 'has sent nothing so far', /^Choose another campaign/],
  ['CANCELLED', 'was cancelled before it sent anything', /^Choose another campaign/],
] as const

for (const [status, state, fix] of unsent) {
  test(`a check says that a campaign that is ${status} and has sent nothing has been opened by nobody`, async (t) => {
    const { core, projectId } = await open(t)
    const campaignId = await addCampaign(core, { projectId, name: 'Never', status })
    const condition = all({ field: 'email.opened', operator: 'notTriggered', campaignId })
    const [finding, ...others] = await findMisfits(core, { projectId, condition })
    assert.deepEqual([finding?.code, others], ['filter_unsent_campaign', []])
    assert.ok(finding?.message.startsWith(`The campaign "Never" ${state}, so nobody`))
    assert.match(finding?.fix ?? '', fix)
  })
}
