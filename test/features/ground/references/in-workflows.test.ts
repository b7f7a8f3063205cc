import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { deleteEvents } from '../../../../src/features/ground/events/delete.ts'
import { findEventUsage } from '../../../../src/features/ground/events/usage.ts'
import type { Referent } from '../../../../src/features/ground/manifest/reference.ts'
import { findReferences } from '../../../../src/features/ground/references/registry.ts'
import { deleteDomain } from '../../../../src/features/mail/domains/domains.ts'
import {
  bulkUpdateTemplates,
  deleteTemplate,
  findTemplateUsage,
} from '../../../../src/features/mail/templates/templates.ts'
import { deleteField } from '../../../../src/features/people/contacts/fields/delete.ts'
import { findFieldUsage } from '../../../../src/features/people/contacts/fields/usage.ts'
import {
  createSegment,
  deleteSegment,
} from '../../../../src/features/people/segments/edit-segment.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { workflowSteps } from '../../../../src/store/schema/workflows.ts'
import { addSenderProject, openSender } from '../../mail/messages/sender.ts'
import { addTemplate } from '../../mail/messages/workflow-mail.ts'
import { addCampaign } from '../../outreach/campaigns/add-campaign.ts'
import { insertStep, insertWorkflow } from '../../outreach/workflows/insert-rows.ts'

async function openProject(t: TestContext) {
  const sender = await openSender(t)
  const { core, project } = sender
  const projectId = project.id
  const workflow = { id: await insertWorkflow(core, { projectId }), name: 'Onboarding' }
  const addStep = (
    type: (typeof workflowSteps.$inferInsert)['type'],
    config: object,
    change = {},
  ) =>
    insertStep(core, {
      ...{ projectId, workflowId: workflow.id, type, config: { ...config } },
      ...change,
    })
  const find = (referent: Referent) =>
    findReferences(core, core.store.read, { projectId, referent })
  const usersOf = async (referent: Referent) =>
    (await find(referent)).workflows.map(({ name }) => name)
  return { sender, core, projectId, workflow, addStep, find, usersOf }
}

const event = (name: string): Referent => ({ kind: 'event', name })
const data = (key: string): Referent => ({ kind: 'data field', key })

test('a workflow uses the event that starts it, under each of its names, enabled or not', async (t) => {
  const { core, projectId, usersOf } = await openProject(t)
  const triggerConfig = { eventName: 'email.opened' }
  await insertWorkflow(core, {
    ...{ projectId, name: 'By open', isEnabled: false },
    ...{ triggerConfig, triggerEvent: 'email.open' },
  })
  const other = await addSenderProject(core, 'Other', 'other.test')
  await insertWorkflow(core, { projectId: other.id, triggerEvent: 'email.open' })
  assert.deepEqual(await usersOf(event('email.open')), ['By open'])
  assert.deepEqual(await usersOf(event('email.opened')), ['By open'])
  assert.deepEqual(await usersOf(event('email.click')), [])
})

test('a workflow uses the events that its steps wait for and ask for', async (t) => {
  const { addStep, usersOf } = await openProject(t)
  await addStep('WAIT_FOR_EVENT', { eventName: 'email.clicked' })
  await addStep('WAIT_FOR_EVENT', { eventName: 'order' })
  await addStep('CONDITION', { field: 'email.opened', operator: 'exists' })
  await addStep('CONDITION', { field: 'event.plan', operator: 'exists' })
  for (const name of ['email.click', 'email.clicked', 'order', 'email.open']) {
    assert.deepEqual(await usersOf(event(name)), ['Onboarding'], name)
  }
  for (const name of ['plan', 'event.plan', 'ord', 'email.bounce']) {
    assert.deepEqual(await usersOf(event(name)), [], name)
  }
})

test('a workflow uses the fields that its steps ask for and set', async (t) => {
  const { addStep, usersOf } = await openProject(t)
  await addStep('CONDITION', { field: 'data.plan', operator: 'exists' })
  await addStep('CONDITION', { field: 'contact.data.a*[b.city', operator: 'exists' })
  await addStep('CONDITION', { mode: 'multi', field: 'contact.email', branches: [] })
  await addStep('UPDATE_CONTACT', { updates: { 'first "name"': 'Ada', note: null } })
  for (const key of ['plan', 'a*[b', 'a*[b.city', 'first "name"', 'note']) {
    assert.deepEqual(await usersOf(data(key)), ['Onboarding'], key)
  }
  for (const key of ['pla', 'plan.x', 'a', 'city', 'email', 'aXb']) {
    assert.deepEqual(await usersOf(data(key)), [], key)
  }
  assert.deepEqual(await usersOf({ kind: 'standard field', field: 'email' }), ['Onboarding'])
  assert.deepEqual(await usersOf({ kind: 'standard field', field: 'subscribed' }), [])
})

test('a step that was removed uses nothing', async (t) => {
  const { sender, core, addStep, find, usersOf } = await openProject(t)
  const templateId = await addTemplate(sender)
  await addStep('SEND_EMAIL', {}, { templateId, removedAt: 1 })
  await addStep('WAIT_FOR_EVENT', { eventName: 'order' }, { removedAt: 1 })
  await addStep('CONDITION', { field: 'data.plan' }, { removedAt: 1 })
  assert.deepEqual(await usersOf(event('order')), [])
  assert.deepEqual(await usersOf(data('plan')), [])
  const { workflows, workflowSteps: steps } = await find({ kind: 'template', id: templateId })
  assert.deepEqual([workflows, steps], [[], []])
  await deleteTemplate(core, { projectId: sender.project.id, id: templateId })
})

test('a template that a step sends is shown with its steps and cannot be deleted', async (t) => {
  const { sender, core, projectId, workflow, addStep } = await openProject(t)
  const id = await addTemplate(sender)
  const free = await addTemplate(sender)
  const first = await addStep('SEND_EMAIL', {}, { templateId: id, name: 'Welcome' })
  core.clock.now += 1
  const second = await addStep('SEND_EMAIL', {}, { templateId: id, name: 'Again' })
  const steps = [
    { id: first, name: 'Onboarding / Welcome' },
    { id: second, name: 'Onboarding / Again' },
  ]
  const usage = await findTemplateUsage(core, { projectId, id })
  assert.deepEqual(usage, {
    ...{ workflowSteps: 2, emailsSent: 0, campaigns: [] },
    ...{ workflows: [workflow], steps },
  })
  const refusal = { code: 'CONFLICT', details: { workflows: [workflow], steps } }
  await assert.rejects(deleteTemplate(core, { projectId, id }), refusal)
  const ids = [free, id]
  await assert.rejects(bulkUpdateTemplates(core, { projectId, ids, delete: true }), refusal)
  assert.equal((await findTemplateUsage(core, { projectId, id: free })).workflowSteps, 0)
  await core.store.write(async (tx) => {
    await tx.update(workflowSteps).set({ templateId: null }).where(eq(workflowSteps.templateId, id))
  })
  assert.deepEqual(await bulkUpdateTemplates(core, { projectId, ids, delete: true }), {
    deleted: 2,
  })
})

test('a segment whose members a schedule starts cannot be deleted', async (t) => {
  const { core, projectId } = await openProject(t)
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'email', operator: 'contains', value: '@' }] }],
  }
  const { id } = await createSegment(core, { projectId, name: 'All', condition })
  const weekly = await insertWorkflow(core, {
    ...{ projectId, name: 'Weekly', triggerType: 'SCHEDULE', segmentId: id },
  })
  await assert.rejects(deleteSegment(core, { projectId, id }), {
    code: 'CONFLICT',
    message: 'The segment is in use by the schedule of "Weekly".',
    details: { segments: [], campaigns: [], workflows: [{ id: weekly, name: 'Weekly' }] },
  })
})

test('events and fields that a workflow uses cannot be deleted', async (t) => {
  const { core, projectId, workflow, addStep } = await openProject(t)
  await addStep('WAIT_FOR_EVENT', { eventName: 'order' })
  await addStep('UPDATE_CONTACT', { updates: { plan: 'pro' } })
  const events = await findEventUsage(core, { projectId, name: 'order' })
  assert.deepEqual([events.usedInWorkflows, events.canDelete], [[workflow], false])
  await assert.rejects(deleteEvents(core, { projectId, name: 'order' }), {
    code: 'BAD_REQUEST',
    message: 'The event is used by a workflow.',
    details: { usedInSegments: [], usedInCampaigns: [], usedInWorkflows: [workflow] },
  })
  const field = 'data.plan'
  const fields = await findFieldUsage(core, { projectId, field })
  assert.deepEqual([fields.usedInWorkflows, fields.canDelete], [[workflow], false])
  await assert.rejects(deleteField(core, { projectId, field }), {
    code: 'BAD_REQUEST',
    message: 'The field is used by a workflow.',
    details: { usedInSegments: [], usedInCampaigns: [], usedInWorkflows: [workflow] },
  })
})

test('the refusal to delete an event names the campaign that uses it', async (t) => {
  const { core, projectId } = await openProject(t)
  const filter = { field: 'event.order', operator: 'triggered' }
  const audienceCondition = { logic: 'AND', groups: [{ filters: [filter] }] }
  const id = await addCampaign(core, {
    ...{ projectId, name: 'Sale', audienceType: 'FILTERED', audienceCondition },
  })
  await assert.rejects(deleteEvents(core, { projectId, name: 'order' }), {
    code: 'BAD_REQUEST',
    message: 'The event is used by a campaign.',
    details: {
      ...{ usedInSegments: [], usedInWorkflows: [] },
      usedInCampaigns: [{ id, name: 'Sale' }],
    },
  })
})

test('the refusal to delete a domain names the steps that send from it', async (t) => {
  const { sender, core, projectId, addStep } = await openProject(t)
  const templateId = await addTemplate(sender)
  const step = await addStep('SEND_EMAIL', {}, { templateId, name: 'Welcome' })
  const [domain] = await core.store.read
    .select()
    .from(domains)
    .where(eq(domains.projectId, projectId))
  assert.ok(domain)
  await assert.rejects(deleteDomain(core, { projectId, id: domain.id }), {
    code: 'CONFLICT',
    details: {
      ...{ templates: [{ id: templateId, name: 'Welcome' }], campaigns: [] },
      workflowSteps: [{ id: step, name: 'Onboarding / Welcome' }],
    },
  })
})
