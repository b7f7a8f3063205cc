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
}
