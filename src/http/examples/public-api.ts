/** Examples of sending, tracking and of the operations on emails. */
import { emailExample as email, emailSummaryExample as summary } from '../../records/email.ts'
import { verificationExample } from '../../records/verification.ts'
import type { Examples } from './operation-example.ts'

const params = { id: email.id }

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

export const publicApiExamples: Examples = {
  'POST /v1/send': {
    request: {
      to: 'Ann <ann@example.org>',
      from: 'Shop <hello@example.test>',
      subject: 'Your order {{ order }}',
      body: '<p>Thank you, {{ name }}.</p>',
      data: {
        order: {
          value: '66',
          persistent: false,
        },
      },
    },
    status: 200,
    response: {
      success: true,
      data: {
        emails: [
          {
            contact: {
              id: '0199a7c0-0000-7000-8000-000000000003',
              email: 'ann@example.org',
            },
            email: '0199a7c0-0000-7000-8000-000000000011',
          },
        ],
        timestamp: '2026-11-22T09:30:00.000Z',
      },
      emails: [
        {
          contact: {
            id: '0199a7c0-0000-7000-8000-000000000003',
            email: 'ann@example.org',
          },
          email: '0199a7c0-0000-7000-8000-000000000011',
        },
      ],
      timestamp: '2026-11-22T09:30:00.000Z',
    },
  },
  'POST /v1/track': {
    request: {
      event: 'order placed',
      email: 'ann@example.org',
      data: {
        total: {
          value: 42.5,
          persistent: false,
        },
      },
    },
    status: 200,
    response: {
      success: true,
      data: {
        contact: '0199a7c0-0000-7000-8000-000000000003',
        event: '0199a7c0-0000-7000-8000-000000000013',
        timestamp: '2026-11-22T09:30:00.000Z',
      },
      contact: '0199a7c0-0000-7000-8000-000000000003',
      event: '0199a7c0-0000-7000-8000-000000000013',
      timestamp: '2026-11-22T09:30:00.000Z',
    },
  },
  'POST /v1/verify': {
    request: {
      email: 'ann@example.org',
    },
    status: 200,
    response: {
      success: true,
      data: verificationExample,
    },
  },
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
