/** A CONDITION on the email of a campaign. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { address } from '../../../../core.ts'
import { openCampaign } from '../../campaigns/figures/sent-campaign.ts'
import { createRunner } from './run-due.ts'
import { buildWorkflow, listExecutions, pathOf, type StepSpec } from './workflow-rows.ts'

test('a CONDITION asks what happened to the email of a campaign', async (t) => {
  const { core, key, add, settle, hit } = await openCampaign(t)
  const { projectId, id: campaignId } = key
  const [opened = '', unopened = ''] = await add(2)
  for (const emailId of [opened, unopened]) await settle(emailId, 'delivered')
  core.clock.now += 60_000
  await hit({ type: 'open', emailId: opened, at: core.now(), isMachine: false })
  const runner = await createRunner(core)
  t.after(runner.stop)
  const check = (id: string): StepSpec => ({
    type: 'CONDITION',
    config: { field: 'email.opened', operator: 'exists', campaignId: id },
  })
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: {
      check: check(campaignId),
      other: check(newId()),
      yes: { type: 'EXIT' },
      no: { type: 'EXIT' },
    },
    transitions: [
      ['trigger', 'check'],
      ['check', 'other', { branch: 'yes' }],
      ['check', 'no', { branch: 'no' }],
      ['other', 'yes', { branch: 'yes' }],
    ],
  })
  for (const name of ['p1@mail1.test', 'p2@mail2.test']) {
    const request = { event: 'signup', address: address(name) }
    await recordEventByAddress(core, { projectId, request })
  }
  await runner.run()
  const paths = []
  for (const { number } of await listExecutions(core, id)) {
    paths.push((await pathOf(core, number)).map((step) => step.split(' ')[0]).join(' '))
  }
  assert.deepEqual(paths.sort(), ['trigger check no', 'trigger check other'])
})
