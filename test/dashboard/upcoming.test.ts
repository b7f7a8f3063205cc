import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listNextLines } from '../../src/dashboard/logic/upcoming.ts'

test('the mail of a workflow is one line, with the first of its instants', () => {
  const workflow = { workflowId: 'w', workflowName: 'Welcome series' }
  const lines = listNextLines([
    { type: 'workflow.email.scheduled', timestamp: '1', metadata: workflow },
    {
      type: 'campaign.scheduled',
      timestamp: '2',
      metadata: { campaignId: 'c', campaignName: 'Bulb sale', totalRecipients: 7 },
    },
    { type: 'workflow.email.scheduled', timestamp: '3', metadata: workflow },
    { type: 'workflow.execution.active', timestamp: '4', metadata: workflow },
  ])
  assert.deepEqual(lines, [
    { kind: 'emails', id: 'emails w', name: 'Welcome series', first: '1', count: 2 },
    { kind: 'campaign', id: 'c', name: 'Bulb sale', first: '2', recipients: 7 },
    { kind: 'people', id: 'people w', name: 'Welcome series', first: '4', count: 1 },
  ])
})
