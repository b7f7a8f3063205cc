/** Examples of the operations on emails. */
import type { Examples } from './operation-example.ts'

const params = { id: '0199a7c0-0000-7000-8000-000000000011' }

const summary = {
  id: params.id,
  contactId: '0199a7c0-0000-7000-8000-000000000003',
  recipientAddress: 'ann@example.org',
  toName: 'Ann',
  subject: 'Your order {{ order }}',
  from: 'hello@example.test',
  fromName: 'Shop',
  replyTo: null,
  messageId: '0199a7c0-0000-7000-8000-000000000011@example.test',
  sourceType: 'TRANSACTIONAL',
  type: 'TRANSACTIONAL',
  templateId: null,
  campaignId: null,
  workflowExecutionId: null,
  workflowStepExecutionId: null,
  workflow: null,
  status: 'PENDING',
  state: 'queued',
  sentAt: null,
  deliveredAt: null,
  openedAt: null,
  clickedAt: null,
  bouncedAt: null,
  complainedAt: null,
  opens: 0,
  clicks: 0,
  machineOpens: 0,
  machineClicks: 0,
  error: null,
  isTest: false,
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}

const email = {
  ...summary,
  subject: 'Your order 66',
  body: '<!DOCTYPE html>…<p>Thank you, Ann.</p>…</html>\n',
  text: null,
  headers: null,
  attachments: null,
  warnings: [],
  reason: 'It is due now and will be sent as soon as the server gets to it.',
  nextAttemptAt: '2026-11-22T09:30:00.000Z',
  giveUpAt: '2026-11-23T09:30:00.000Z',
  heldAt: null,
  providerId: null,
  answeredEmailId: null,
  templateFaults: [],
  attempts: [],
  events: [],
}

const cancelled = {
  ...email,
  status: 'FAILED',
  state: 'failed',
  error: 'cancelled',
  reason: 'It was cancelled at …',
  nextAttemptAt: null,
  events: [
    {
      id: '0199a7c0-0000-7000-8000-000000000041',
      name: 'email.failed',
      data: { error: 'cancelled', reason: 'cancelled' },
      createdAt: '2026-11-22T09:30:00.000Z',
    },
  ],
}

export const emailExamples: Examples = {
  'GET /emails': {
    query: { search: 'ann@', limit: '20' },
    status: 200,
    response: {
      data: [{ ...summary, reason: email.reason }],
      cursor: null,
      hasMore: false,
      total: 1,
    },
  },
  'GET /emails/:id': { params, status: 200, response: email },
  'GET /emails/:id/raw': {
    params,
    status: 200,
    response: 'DKIM-Signature: v=1; a=rsa-sha256;…\r\nSubject: Your order 66\r\n…',
  },
  'POST /emails/:id/cancel': { params, status: 200, response: cancelled },
  'POST /emails/:id/retry': {
    params,
    status: 200,
    response: { ...email, events: cancelled.events },
  },
}
