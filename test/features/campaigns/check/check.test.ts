import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCampaign } from '../../../../src/features/campaigns/check/check.ts'
import { listNamedVariables } from '../../../../src/features/campaigns/check/named-variables.ts'
import { createSegment } from '../../../../src/features/segments/create.ts'
import { addMembers } from '../../../../src/features/segments/edit-members.ts'
import type { Outbound } from '../../../../src/outbound/outbound.ts'
import { newId } from '../../../../src/store/ids.ts'
import type { Campaign } from '../../../../src/store/schema/campaigns.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { addProject, openTestCore, trustDomain } from '../../../core.ts'
import { useOutbound } from '../../../outbound/harness.ts'
import { addCampaign, addContacts } from '../sending/campaign.ts'

const { start: startThreads } = useOutbound()

type Hooks = Parameters<typeof openTestCore>[0]

async function open(t: Hooks) {
  const core = await openTestCore(t, {
    settings: {
      PILLARBOX_BASE_URL: 'https://mail.shop.test',
      PILLARBOX_DELIVERY__MODE: 'direct',
      PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:25"]',
    },
  })
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  await core.store.write((tx) => tx.update(domains).set({ isReturnPathFound: true }))
  core.directory.drop()
  const project = await core.directory.findProject(projectId)
  assert.ok(project)
  const check = async (fields: Partial<Campaign> = {}) => {
    const id = await addCampaign(core, projectId, fields)
    return (await checkCampaign(core, project, id)).findings
  }
  const codes = async (fields: Partial<Campaign> = {}) =>
    (await check(fields)).map(({ code, severity }) => `${severity} ${code}`)
  return { core, projectId, project, check, codes }
}

const text = { subject: 'News', body: '<p>Hello</p>' }

test('a campaign in order has no findings', async (t) => {
  const { core, projectId, codes } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { name: 'Ada' } }])
  assert.deepEqual(await codes(), [])
})

test('an unverified sender, and a return path of another domain, are found', async (t) => {
  const { core, projectId, codes, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test' }])
  assert.deepEqual(await codes({ ...text, fromDomain: 'other.test' }), ['error sender_unverified'])
  await core.store.write((tx) => tx.update(domains).set({ isReturnPathFound: false }))
  core.directory.drop()
  const [finding] = await check(text)
  assert.equal(finding?.code, 'sender_not_aligned')
  assert.match(finding?.fix ?? '', /bounce\.shop\.test/)
})

test('an audience without recipients, a missing segment and a bad condition are errors', async (t) => {
  const { core, projectId, codes } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', subscribed: false }])
  assert.deepEqual(await codes(text), ['error empty_audience'])
  assert.deepEqual(await codes({ ...text, type: 'TRANSACTIONAL' }), [])
  const gone = { audienceType: 'SEGMENT', segmentId: newId() } as const
  assert.deepEqual(await codes({ ...text, ...gone }), ['error segment_missing'])
  const filters = [{ field: `segment.${newId()}`, operator: 'memberOfSegment' }]
  const condition = { logic: 'AND', groups: [{ filters }] }
  assert.deepEqual(
    await codes({ ...text, audienceType: 'FILTERED', audienceCondition: condition }),
    ['error condition_invalid'],
  )
})

test('variables that this audience never fills are found, those with a fallback are not', async (t) => {
  const { core, projectId, check } = await open(t)
  const [ada] = await addContacts(core, projectId, [
    { address: 'ada@dest.test', data: { name: 'Ada', plan: '' } },
    { address: 'bob@dest.test', data: { city: 'Rome' } },
  ])
  const body =
    '<p>{{name}} {{city}} {{plan}} {{naem}} {{ vip ?? no }} {{data.x | default: "y"}}</p>'
  const names = async (fields: Partial<Campaign>) =>
    (await check({ subject: 'Hi', body, ...fields }))
      .filter(({ code }) => code === 'unfilled_variable')
      .map(({ message }) => /\{\{(.*)\}\}/.exec(message)?.[1])
  assert.deepEqual(await names({}), ['plan', 'naem'])
  const { id: segmentId } = await createSegment(core, { projectId, name: 'A', type: 'STATIC' })
  await addMembers(core, { projectId, id: segmentId, emails: ['ada@dest.test'] } as never)
  assert.ok(ada)
  assert.deepEqual(await names({ audienceType: 'SEGMENT', segmentId }), ['city', 'plan', 'naem'])
})

test('a long message is searched in a thread, so that other requests need not wait', async (t) => {
  const { core, projectId, project } = await open(t)
  const people = Array.from({ length: 5 }, (_, at) => ({ address: `p${at}@dest.test` }))
  await addContacts(core, projectId, people)
  const product = '<a href="https://shop.test/">x</a><img src="https://shop.test/i.png">'
  const body = product.repeat(20_000)
  const id = await addCampaign(core, projectId, { subject: 'News', body })
  const { outbound } = await startThreads({})
  const listCodes = async (searching: Outbound) => {
    const { findings } = await checkCampaign({ ...core, outbound: searching }, project, id)
    return findings.map(({ code }) => code)
  }
  assert.deepEqual(await listCodes(outbound), ['image_without_alt', 'html_too_large'])
  assert.deepEqual(await listCodes({ ...outbound, inspect: async () => [] }), [])
})

test('names that a text defines itself and those of the server are not data', () => {
  const source =
    '{% assign total = 5 %}{{total}}{% for item in items %}{{item.name}}{{forloop.index}}{% endfor %}' +
    '{% capture hello %}x{% endcapture %}{{hello}}{{email}}{{unsubscribeUrl}}{{data.plan}}{{first name}}'
  assert.deepEqual(listNamedVariables([source, '{{order.id}}']), ['plan', 'first name', 'order'])
})
