/** Examples of the operations on projects and their members. */
import {
  invitationExample as invitation,
  memberExample as member,
  ownerExample as owner,
} from '../../records/member.ts'
import {
  newProjectExample as letters,
  projectExample as shop,
  projectSummaryExample as summary,
} from '../../records/project.ts'
import { resetExample } from '../../records/project-reset.ts'
import { securityExample as metrics } from '../../records/security.ts'
import type { Examples } from './operation-example.ts'

const params = { id: '0199a7c0-0000-7000-8000-000000000001' }

const project = { id: '0199a7c0-0000-7000-8000-000000000001' }
const ann = member.userId

/** A project that no other example uses. */
const surplus = { id: '0199a7c0-0000-7000-8000-000000000e01' }

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
  'POST /projects/:id/members': {
    params: project,
    request: { email: 'bea@example.com', role: 'ADMIN' },
    status: 200,
    response: {
      success: true,
      data: {
        invited: true,
        email: 'bea@example.com',
        role: 'ADMIN',
        url: '…/invitations/…',
      },
    },
  },
  'GET /projects/:id/invitations': {
    params: project,
    status: 200,
    response: {
      success: true,
      data: [invitation],
    },
  },
  'DELETE /projects/:id/invitations/:invitationId': {
    params: { ...project, invitationId: invitation.id },
    status: 204,
  },
  'POST /auth/accept-invitation': {
    request: {
      token: '7f0d5f0c1f4bb6a1c5e0e6b0d3a2c49f7f0d5f0c1f4bb6a1c5e0e6b0d3a2c49f',
      password: 'correct horse battery staple',
    },
    status: 200,
    response: {
      success: true,
      data: {
        id: ann,
        email: 'ann@example.com',
        projectId: '0199a7c0-0000-7000-8000-000000000001',
        role: 'MEMBER',
      },
    },
  },
  'GET /projects/:id/members': {
    params: project,
    status: 200,
    response: {
      success: true,
      data: [owner, member],
    },
  },
  'PATCH /projects/:id/members/:userId': {
    params: { ...project, userId: ann },
    request: { role: 'ADMIN' },
    status: 200,
    response: { success: true, data: { userId: ann, email: 'ann@example.com', role: 'ADMIN' } },
  },
  'DELETE /projects/:id/members/:userId': {
    params: { ...project, userId: ann },
    status: 200,
    response: { success: true, data: { message: 'The member was removed.' } },
  },
  'GET /users/@me/projects/:id/security': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    status: 200,
    response: metrics,
  },
  'GET /projects/:id/security': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    status: 200,
    response: { success: true, data: metrics },
  },
  'GET /users/@me/projects/:id/reset': {
    params,
    status: 200,
    response: {
      success: true,
      data: resetExample,
    },
  },
  'POST /users/@me/projects/:id/reset': {
    params: surplus,
    status: 200,
    response: { success: true, message: 'The project is being reset.' },
  },
  'DELETE /users/@me/projects/:id': {
    params: surplus,
    status: 200,
    response: { success: true, message: 'The project was deleted.' },
  },
}
