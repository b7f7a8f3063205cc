import { contactExample } from '../../records/contact.ts'
import { eventExample as event } from '../../records/event.ts'
import type { Examples } from './operation-example.ts'

export const eventExamples: Examples = {
  'POST /events/track': {
    request: {
      name: 'page viewed',
      data: {
        path: '/pricing',
      },
    },
    status: 201,
    response: {
      projectId: '0199a7c0-0000-7000-8000-000000000001',
      name: 'page viewed',
      contactId: null,
      emailId: null,
      data: {
        path: '/pricing',
      },
      id: '0199a7c0-0000-7000-8000-000000000014',
      createdAt: '2026-11-22T09:30:00.000Z',
    },
  },
  'GET /events': {
    query: {
      eventName: 'order placed',
      limit: '20',
    },
    status: 200,
    response: {
      events: [{ ...event, contact: { email: contactExample.email } }],
      cursor: null,
      hasMore: false,
      total: 1,
    },
  },
  'GET /events/stats': {
    status: 200,
    response: [
      {
        name: 'contact.subscribed',
        count: 1,
      },
      {
        name: 'contact.unsubscribed',
        count: 1,
      },
      {
        name: 'order placed',
        count: 1,
      },
      {
        name: 'page viewed',
        count: 1,
      },
    ],
  },
  'GET /events/names': {
    status: 200,
    response: {
      eventNames: ['contact.subscribed', 'contact.unsubscribed', 'order placed', 'page viewed'],
    },
  },
  'GET /events/contact/:contactId': {
    params: {
      contactId: '0199a7c0-0000-7000-8000-000000000003',
    },
    query: {
      limit: '20',
    },
    status: 200,
    response: {
      events: [
        event,
        {
          ...event,
          id: '0199a7c0-0000-7000-8000-000000000015',
          name: 'contact.subscribed',
          data: { reason: 'api' },
        },
        {
          ...event,
          id: '0199a7c0-0000-7000-8000-000000000016',
          name: 'contact.unsubscribed',
          data: { reason: 'api' },
        },
      ],
    },
  },
  'GET /events/:eventName/usage': {
    params: {
      eventName: 'order placed',
    },
    status: 200,
    response: {
      usedInSegments: [],
      usedInWorkflows: [],
      totalCount: 1,
      uniqueContacts: 1,
      canDelete: true,
    },
  },
  'DELETE /events/:eventName': {
    params: {
      eventName: 'page viewed',
    },
    status: 200,
    response: {
      deletedCount: 502,
      jobId: 'delete-events-0199a7c0-0000-7000-8000-000000000001-1795339802000',
    },
  },
  'GET /events/jobs/:jobId': {
    params: {
      jobId: 'delete-events-0199a7c0-0000-7000-8000-000000000001-1795339802000',
    },
    status: 200,
    response: {
      id: 'delete-events-0199a7c0-0000-7000-8000-000000000001-1795339802000',
      state: 'completed',
      progress: 100,
      result: {
        deletedCount: 502,
      },
      data: {
        name: 'page viewed',
        total: 502,
      },
      failedReason: null,
    },
  },
}
