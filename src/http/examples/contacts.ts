/** Examples of the operations on contacts and their fields. */
import { conditionExample as proPlan } from '../../records/condition.ts'
import {
  contactExample as contact,
  newContactExample as newContact,
} from '../../records/contact.ts'
import type { Examples } from './operation-example.ts'

export const contactExamples: Examples = {
  'POST /contacts': {
    request: {
      email: 'ann@example.org',
      subscribed: true,
      data: {
        name: 'Ann',
        plan: 'pro',
      },
    },
    status: 201,
    response: {
      ...newContact,
      _meta: {
        isNew: true,
        isUpdate: false,
      },
    },
  },
  'GET /contacts/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000003',
    },
    status: 200,
    response: newContact,
  },
  'PATCH /contacts/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000003',
    },
    request: {
      data: {
        city: 'Oslo',
      },
    },
    status: 200,
    response: contact,
  },
  'GET /contacts': {
    query: {
      limit: '20',
      search: 'example.org',
    },
    status: 200,
    response: {
      data: [contact],
      cursor: null,
      hasMore: false,
      total: 1,
    },
  },
  'POST /contacts/query': {
    request: {
      filter: proPlan,
      limit: 20,
    },
    status: 200,
    response: {
      data: [contact],
      cursor: null,
      hasMore: false,
      total: 1,
    },
  },
  'POST /contacts/lookup': {
    request: {
      emails: ['ann@example.org', 'nobody@example.org'],
    },
    status: 200,
    response: {
      found: ['ann@example.org'],
      notFound: ['nobody@example.org'],
    },
  },
  'GET /contacts/public/:id': {
    params: {
      id: 'aganuugytc7xbovouv7ozyhtk4agrfwgi6yyz4sm6tpgo2svgk5a3k7l3fcoctmr4xha',
    },
    status: 200,
    response: {
      id: '0199a7c0-0000-7000-8000-000000000003',
      email: 'ann@example.org',
      subscribed: true,
      language: 'en',
    },
  },
  'POST /contacts/public/:id/unsubscribe': {
    params: {
      id: 'aganuugytc7xbovouv7ozyhtk4agrfwgi6yyz4sm6tpgo2svgk5a3k7l3fcoctmr4xha',
    },
    status: 200,
    response: {
      id: '0199a7c0-0000-7000-8000-000000000003',
      email: 'ann@example.org',
      subscribed: false,
    },
  },
  'POST /contacts/public/:id/subscribe': {
    params: {
      id: 'aganuugytc7xbovouv7ozyhtk4agrfwgi6yyz4sm6tpgo2svgk5a3k7l3fcoctmr4xha',
    },
    status: 200,
    response: {
      id: '0199a7c0-0000-7000-8000-000000000003',
      email: 'ann@example.org',
      subscribed: true,
    },
  },
  'DELETE /contacts/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000003',
    },
    status: 204,
  },
  'GET /contacts/fields': {
    status: 200,
    response: {
      fields: [
        {
          field: 'createdAt',
          type: 'date',
          coverage: 100,
        },
        {
          field: 'data.city',
          type: 'string',
          coverage: 100,
        },
        {
          field: 'data.name',
          type: 'string',
          coverage: 100,
        },
        {
          field: 'data.plan',
          type: 'string',
          coverage: 100,
        },
        {
          field: 'email',
          type: 'string',
          coverage: 100,
        },
        {
          field: 'subscribed',
          type: 'boolean',
          coverage: 100,
        },
        {
          field: 'updatedAt',
          type: 'date',
          coverage: 100,
        },
      ],
      count: 7,
    },
  },
  'GET /contacts/fields/:field/values': {
    params: {
      field: 'data.plan',
    },
    status: 200,
    response: {
      field: 'data.plan',
      values: ['pro'],
      count: 1,
      limit: 100,
    },
  },
  'GET /contacts/fields/:field/usage': {
    params: {
      field: 'data.plan',
    },
    status: 200,
    response: {
      usedInSegments: [{ id: '0199a7c0-0000-7000-8000-000000000017', name: 'Pro customers' }],
      usedInCampaigns: [],
      usedInWorkflows: [],
      contactCount: 1,
      canDelete: false,
    },
  },
  'DELETE /contacts/fields/:field': {
    params: {
      field: 'data.city',
    },
    status: 200,
    response: {
      deletedFrom: 1,
    },
  },
}
