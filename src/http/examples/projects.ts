import {
  newProjectExample as letters,
  projectExample as shop,
  projectSummaryExample as summary,
} from '../../records/project.ts'
import type { Examples } from './operation-example.ts'

export const projectExamples: Examples = {
  'POST /users/@me/projects': {
    request: { name: 'Letters' },
    status: 201,
    response: letters,
  },
  'PATCH /users/@me/projects/:id': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    request: {
      ...{ name: 'Shop', tracking: 'MARKETING_ONLY', language: 'pt-BR' },
      postalAddress: 'Shop Ltd, 1 Main Street, Springfield',
    },
    status: 200,
    response: shop,
  },
  'GET /users/@me/projects': {
    status: 200,
    response: [letters, shop],
  },
  'POST /users/@me/projects/:id/regenerate-keys': {
    params: { id: '0199a7c0-0000-7000-8000-000000000a01' },
    status: 200,
    response: {
      id: '0199a7c0-0000-7000-8000-000000000a01',
      name: 'Letters',
      public: 'pk_…',
      secret: 'sk_…',
      createdAt: '2026-11-21T12:00:00.000Z',
      updatedAt: '2026-11-22T09:30:00.000Z',
      disabled: false,
      customer: null,
      subscription: null,
    },
  },
  'GET /projects': {
    status: 200,
    response: { success: true, data: summary },
  },
  'GET /projects/:id': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    status: 200,
    response: { success: true, data: summary },
  },
  'GET /projects/:id/setup-state': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    status: 200,
    response: {
      success: true,
      data: {
        hasSubscription: false,
        hasVerifiedDomain: true,
        contactCount: 3,
        hasContacts: true,
        lastCampaignSentAt: '2026-11-22T09:30:00.000Z',
        hasEnabledWorkflow: true,
        hasSentEmail: false,
        deliveryMode: 'direct',
      },
    },
  },
}
