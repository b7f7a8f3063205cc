/** Examples of sending an email and of reading it. */
import { emailExample as email, emailSummaryExample as summary } from '../../records/email.ts'
import { reasonOf } from '../../records/reason.ts'
import type { OperationExample } from '../route-docs.ts'

const params = { id: email.id }
const cancelled = {
  ...email,
  status: 'FAILED',
  state: 'failed',
  error: 'cancelled',
  reason: 'It was cancelled at …',
  ...reasonOf('cancelled', { at: '2026-11-22T09:30:00.000Z', obstacle: null, cutOff: null }),
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

const { reason, reasonCode, reasonData, nextAttemptAt, receiver } = email
const listed = { reason, reasonCode, reasonData, nextAttemptAt, receiver, attempts: 0 }

export const send = (): OperationExample => ({
  request: {
    to: 'Ann <ann@example.org>',
    from: 'Shop <hello@example.test>',
    subject: 'Your order {{ order }}',
    body: '<p>Thank you, {{ name }}.</p>',
    data: { order: { value: '66', persistent: false } },
  },
  status: 200,
  response: {
    success: true,
    data: {
      emails: [
        {
          contact: { id: '0199a7c0-0000-7000-8000-000000000003', email: 'ann@example.org' },
          email: '0199a7c0-0000-7000-8000-000000000011',
        },
      ],
      timestamp: '2026-11-22T09:30:00.000Z',
    },
    emails: [
      {
        contact: { id: '0199a7c0-0000-7000-8000-000000000003', email: 'ann@example.org' },
        email: '0199a7c0-0000-7000-8000-000000000011',
      },
    ],
    timestamp: '2026-11-22T09:30:00.000Z',
  },
})

export const test = (): OperationExample => {
  const emails = [
    {
      contact: { id: '0199a7c0-0000-7000-8000-000000000034', email: 'editor@example.org' },
      email: '0199a7c0-0000-7000-8000-000000000036',
    },
  ]
  const timestamp = '2026-11-22T09:30:00.000Z'
  return {
    request: {
      to: 'editor@example.org',
      from: 'Shop <hello@example.test>',
      subject: 'Hello {{ name }}',
      body: '<p>It works.</p>',
      data: { name: 'Ann' },
    },
    status: 200,
    response: { success: true, data: { emails, timestamp }, emails, timestamp },
  }
}

export const list = (): OperationExample => ({
  query: { search: 'ann@', limit: '20' },
  status: 200,
  response: {
    data: [{ ...summary, ...listed }],
    cursor: null,
    hasMore: false,
    total: 1,
  },
})

export const count = (): OperationExample => ({
  query: { status: 'COMPLAINED' },
  status: 200,
  response: {
    counts: {
      ...{ PENDING: 0, SENDING: 0, SENT: 0, DELIVERED: 0, RECEIVED: 0, OPENED: 0, CLICKED: 0 },
      ...{ BOUNCED: 0, COMPLAINED: 0, FAILED: 0, SUPPRESSED: 0 },
    },
    total: 0,
    tooMany: false,
  },
})

export const show = (): OperationExample => ({ params, status: 200, response: email })

export const showRaw = (): OperationExample => ({
  params,
  status: 200,
  response: 'DKIM-Signature: v=1; a=rsa-sha256;…\r\nSubject: Your order 66\r\n…',
})

export const cancel = (): OperationExample => ({ params, status: 200, response: cancelled })

export const retry = (): OperationExample => ({
  params,
  status: 200,
  response: { ...email, events: cancelled.events },
})
