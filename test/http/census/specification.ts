/**
 * The operations of the API family's specification, and the shape of the answer to each: of a request
 * that succeeds, without the fields that this server adds. Written from the documents, not from the
 * code.
 */

/**
 * A word of `WORDS`, several of them as `one | other`, a list as `[shape]`, or an object. A key with
 * `?` at its end may be absent.
 */
export type Shape = string | readonly [Shape] | { readonly [key: string]: Shape }

/** The status, and the shape of the body; null without one. */
type Answer = readonly [status: number, shape: Shape | null]

const contact: Shape = {
  id: 'uuid',
  email: 'string',
  subscribed: 'boolean',
  data: 'object | null',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const template: Shape = {
  id: 'uuid',
  name: 'string',
  description: 'string | null',
  subject: 'string',
  body: 'string',
  from: 'string',
  fromName: 'string | null',
  replyTo: 'string | null',
  type: 'string',
  projectId: 'uuid',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const campaignCounts = {
  totalRecipients: 'count',
  sentCount: 'count',
  deliveredCount: 'count',
  openedCount: 'count',
  clickedCount: 'count',
  bouncedCount: 'count',
  complainedCount: 'count',
  unsubscribedCount: 'count',
}
const campaign: Shape = {
  id: 'uuid',
  name: 'string',
  description: 'string | null',
  status: 'string',
  subject: 'string',
  body: 'string',
  from: 'string',
  fromName: 'string | null',
  replyTo: 'string | null',
  type: 'string',
  audienceType: 'string',
  audienceCondition: 'object | null',
  audienceFilter: 'object | null',
  segmentId: 'uuid | null',
  scheduledFor: 'instant | null',
  scheduledAt: 'instant | null',
  ...campaignCounts,
  projectId: 'uuid',
  sentAt: 'instant | null',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const segment: Shape = {
  id: 'uuid',
  name: 'string',
  description: 'string | null',
  type: 'string',
  condition: 'object | null',
  trackMembership: 'boolean',
  memberCount: 'count',
  projectId: 'uuid',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const transition: Shape = {
  id: 'uuid',
  fromStepId: 'uuid',
  toStepId: 'uuid',
  condition: 'object | null',
  waitOutcome: 'string | null',
  priority: 'integer',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const step: Shape = {
  id: 'uuid',
  workflowId: 'uuid',
  type: 'string',
  name: 'string',
  position: { x: 'number', y: 'number' },
  config: 'object',
  templateId: 'uuid | null',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const workflow: Shape = {
  id: 'uuid',
  name: 'string',
  description: 'string | null',
  enabled: 'boolean',
  triggerType: 'string',
  triggerConfig: 'object | null',
  allowReentry: 'boolean',
  projectId: 'uuid',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const workflowWithSteps: Shape = {
  ...workflow,
  steps: [{ ...step, outgoingTransitions: [transition], incomingTransitions: [transition] }],
}
const execution: Shape = {
  id: 'uuid',
  workflowId: 'uuid',
  contactId: 'uuid',
  status: 'string',
  currentStepId: 'uuid | null',
  exitReason: 'string | null',
  context: 'object | null',
  sourceEventId: 'uuid | null',
  startedAt: 'instant',
  completedAt: 'instant | null',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const event: Shape = {
  id: 'uuid',
  name: 'string',
  data: 'any',
  projectId: 'uuid',
  contactId: 'uuid | null',
  emailId: 'uuid | null',
  createdAt: 'instant',
}
const domain: Shape = {
  id: 'uuid',
  domain: 'string',
  verified: 'boolean',
  dkimTokens: 'list | null',
  projectId: 'uuid',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const activity: Shape = {
  id: 'string',
  type: 'string',
  timestamp: 'instant',
  'contactEmail?': 'string',
  'contactId?': 'uuid',
  metadata: 'object',
}
const project: Shape = {
  id: 'uuid',
  name: 'string',
  public: 'string',
  secret: 'string',
  disabled: 'boolean',
  disabledReason: 'string | null',
  customer: 'string | null',
  subscription: 'string | null',
  billingLimitWorkflows: 'count | null',
  billingLimitCampaigns: 'count | null',
  billingLimitTransactional: 'count | null',
  billingLimitInbound: 'count | null',
  tracking: 'string',
  language: 'string',
  createdAt: 'instant',
  updatedAt: 'instant',
}
const user: Shape = { id: 'uuid', email: 'string' }
const rates: Shape = {
  total: 'count',
  bounces: 'count',
  complaints: 'count',
  bounceRate: 'number',
  complaintRate: 'number',
}
const security: Shape = {
  status: {
    projectId: 'uuid',
    isHealthy: 'boolean',
    shouldDisable: 'boolean',
    twentyFourHour: rates,
    sevenDay: rates,
    allTime: rates,
    isNewProject: 'boolean',
    violations: ['string'],
    warnings: ['string'],
  },
  levels: {
    bounce7Day: 'string',
    bounceAllTime: 'string',
    complaint7Day: 'string',
    complaintAllTime: 'string',
  },
  isDisabled: 'boolean',
}
const job: Shape = {
  id: 'string',
  state: 'string',
  progress: 'count',
  result: 'object | null',
  data: 'object',
  failedReason: 'string | null',
}
const reference: Shape = { id: 'uuid', name: 'string' }
const queued: Shape = { message: 'string', jobId: 'string' }
const message: Shape = { success: 'true', data: { message: 'string' } }
const limit: Shape = {
  limit: 'count | null',
  usage: 'count',
  percentage: 'number',
  isWarning: 'boolean',
  isBlocked: 'boolean',
}
const limits: Shape = {
  workflows: limit,
  campaigns: limit,
  transactional: limit,
  inbound: limit,
  currency: 'string | null',
}

const data = (shape: Shape): Shape => ({ success: 'true', data: shape })
const cursorList = (item: Shape): Shape => ({
  data: [item],
  cursor: 'string | null',
  hasMore: 'boolean',
  total: 'count',
})
const pageList = (items: string, item: Shape): Shape => ({
  [items]: [item],
  total: 'count',
  page: 'count',
  pageSize: 'count',
  totalPages: 'count',
})

/** By method and path; parameters are named as in the specification. */
export const SPECIFICATION: Readonly<Record<string, Answer>> = {
  'POST /v1/send': [
    200,
    data({
      emails: [{ contact: { id: 'uuid', email: 'string' }, email: 'uuid' }],
      timestamp: 'instant',
    }),
  ],
  'POST /v1/track': [200, data({ contact: 'uuid', event: 'uuid', timestamp: 'instant' })],
  'POST /v1/verify': [
    200,
    data({
      email: 'string',
      valid: 'boolean',
      isDisposable: 'boolean',
      isAlias: 'boolean',
      isTypo: 'boolean',
      isPlusAddressed: 'boolean',
      isPersonalEmail: 'boolean',
      domainExists: 'boolean',
      hasWebsite: 'boolean',
      hasMxRecords: 'boolean',
      reasons: ['string'],
    }),
  ],

  'GET /contacts': [200, cursorList(contact)],
  'POST /contacts': [201, { ...contact, _meta: { isNew: 'boolean', isUpdate: 'boolean' } }],
  'GET /contacts/:id': [200, contact],
  'PATCH /contacts/:id': [200, contact],
  'DELETE /contacts/:id': [204, null],
  'POST /contacts/lookup': [200, { found: ['string'], notFound: ['string'] }],
  'GET /contacts/fields': [
    200,
    { fields: [{ field: 'string', type: 'string', coverage: 'count' }], count: 'count' },
  ],
  'GET /contacts/fields/:field/values': [
    200,
    { field: 'string', values: 'list', count: 'count', limit: 'count' },
  ],
  'GET /contacts/fields/:field/usage': [
    200,
    {
      usedInSegments: [reference],
      usedInCampaigns: [reference],
      contactCount: 'count',
      canDelete: 'boolean',
    },
  ],
  'DELETE /contacts/fields/:field': [200, { deletedFrom: 'count' }],
  'POST /contacts/import': [202, queued],
  'GET /contacts/import/:jobId': [200, job],
  'POST /contacts/bulk-subscribe': [202, queued],
  'POST /contacts/bulk-unsubscribe': [202, queued],
  'POST /contacts/bulk-delete': [202, queued],
  'GET /contacts/bulk/:jobId': [200, job],

  'GET /templates': [200, pageList('templates', template)],
  'POST /templates': [201, template],
  'GET /templates/:id': [200, template],
  'PATCH /templates/:id': [200, template],
  'DELETE /templates/:id': [204, null],
  'POST /templates/:id/duplicate': [201, template],
  'GET /templates/:id/usage': [200, { workflowSteps: 'count', emailsSent: 'count' }],

  'GET /campaigns': [200, pageList('data', campaign)],
  'POST /campaigns': [201, data(campaign)],
  'GET /campaigns/:id': [200, data(campaign)],
  'PUT /campaigns/:id': [200, data(campaign)],
  'DELETE /campaigns/:id': [200, { success: 'true', message: 'string' }],
  'POST /campaigns/:id/duplicate': [201, data(campaign)],
  'POST /campaigns/:id/send': [200, { ...Object(data(campaign)), message: 'string' }],
  'POST /campaigns/:id/cancel': [200, data(campaign)],
  'POST /campaigns/:id/test': [200, { success: 'true', message: 'string' }],
  'GET /campaigns/:id/stats': [
    200,
    data({
      ...campaignCounts,
      openRate: 'number',
      clickRate: 'number',
      bounceRate: 'number',
      deliveryRate: 'number',
      complaintRate: 'number',
      unsubscribeRate: 'number',
    }),
  ],

  'GET /segments': [200, [segment]],
  'POST /segments': [201, segment],
  'GET /segments/:id': [200, segment],
  'PATCH /segments/:id': [200, segment],
  'DELETE /segments/:id': [204, null],
  'GET /segments/:id/contacts': [200, pageList('data', contact)],
  'POST /segments/:id/members': [200, { added: 'count', created: 'count', notFound: ['string'] }],
  'DELETE /segments/:id/members': [200, { removed: 'count' }],
  'POST /segments/:id/compute': [200, { added: 'count', removed: 'count', total: 'count' }],
  'POST /segments/:id/refresh': [200, { memberCount: 'count' }],

  'GET /workflows': [
    200,
    pageList('data', { ...workflow, _count: { steps: 'count', executions: 'count' } }),
  ],
  'GET /workflows/fields': [
    200,
    {
      fields: ['string'],
      typedFields: [{ field: 'string', type: 'string', category: 'string' }],
      count: 'count',
    },
  ],
  'POST /workflows': [201, workflowWithSteps],
  'GET /workflows/:id': [200, workflowWithSteps],
  'PATCH /workflows/:id': [200, workflow],
  'DELETE /workflows/:id': [204, null],
  'POST /workflows/:id/steps': [201, step],
  'PATCH /workflows/:id/steps/:stepId': [200, step],
  'DELETE /workflows/:id/steps/:stepId': [204, null],
  'POST /workflows/:id/transitions': [201, transition],
  'DELETE /workflows/:id/transitions/:transitionId': [204, null],
  'POST /workflows/:id/executions': [201, execution],
  'GET /workflows/:id/executions': [
    200,
    pageList('executions', {
      ...execution,
      contact: { id: 'uuid', email: 'string' },
      currentStep: 'object | null',
    }),
  ],
  'GET /workflows/:id/executions/:executionId': [
    200,
    {
      ...execution,
      workflow: 'object',
      contact: { id: 'uuid', email: 'string' },
      currentStep: 'object | null',
      stepExecutions: [
        {
          id: 'uuid',
          executionId: 'uuid',
          stepId: 'uuid',
          status: 'string',
          scheduledFor: 'instant | null',
          executeAfter: 'instant | null',
          output: 'any',
          error: 'string | null',
          startedAt: 'instant | null',
          completedAt: 'instant | null',
          createdAt: 'instant',
          updatedAt: 'instant',
          step: { id: 'uuid', name: 'string', type: 'string' },
        },
      ],
    },
  ],
  'DELETE /workflows/:id/executions/:executionId': [200, execution],
  'POST /workflows/:id/executions/cancel-all': [200, { cancelled: 'count' }],

  'POST /events/track': [201, event],
  'GET /events': [200, { events: [{ ...event, contact: 'object | null' }] }],
  'GET /events/stats': [200, [{ name: 'string', count: 'count' }]],
  'GET /events/contact/:contactId': [200, { events: [event] }],
  'GET /events/names': [200, { eventNames: ['string'] }],
  'GET /events/:eventName/usage': [
    200,
    {
      usedInSegments: 'list',
      usedInWorkflows: 'list',
      totalCount: 'count',
      uniqueContacts: 'count',
      canDelete: 'boolean',
    },
  ],
  'DELETE /events/:eventName': [200, { deletedCount: 'count' }],

  'GET /domains/project/:projectId': [200, [domain]],
  'POST /domains': [201, domain],
  'GET /domains/:id/verify': [
    200,
    { domain: 'string', tokens: ['string'], status: 'string', verified: 'boolean' },
  ],
  'DELETE /domains/:id': [200, { success: 'true' }],

  'GET /activity': [200, { data: [activity], cursor: 'string | null', hasMore: 'boolean' }],
  'GET /activity/stats': [
    200,
    {
      totalEvents: 'count',
      totalEmailsSent: 'count',
      totalEmailsOpened: 'count',
      totalEmailsClicked: 'count',
      totalWorkflowsStarted: 'count',
      openRate: 'number',
      clickRate: 'number',
    },
  ],
  'GET /activity/recent-count': [200, { count: 'count', minutes: 'count' }],
  'GET /activity/types': [200, { types: ['string'] }],
  'GET /activity/upcoming': [200, { activities: [activity] }],
  'GET /analytics/timeseries': [
    200,
    [
      {
        date: 'string',
        emails: 'count',
        opens: 'count',
        clicks: 'count',
        bounces: 'count',
        delivered: 'count',
      },
    ],
  ],
  'GET /analytics/top-campaigns': [
    200,
    [
      {
        id: 'uuid',
        subject: 'string',
        sentCount: 'count',
        openedCount: 'count',
        clickedCount: 'count',
        openRate: 'number',
        clickRate: 'number',
      },
    ],
  ],
  'GET /analytics/campaign-stats': [
    200,
    {
      total: 'count',
      active: 'count',
      completed: 'count',
      averageOpenRate: 'number',
      averageClickRate: 'number',
    },
  ],
  'GET /analytics/top-events': [200, [{ name: 'string', count: 'count', trend: 'number' }]],
  'POST /uploads/image': [
    200,
    { url: 'string', key: 'string', filename: 'string', contentType: 'string', size: 'count' },
  ],

  'POST /auth/login': [200, data(user)],
  'POST /auth/signup': [200, data(user)],
  'GET /auth/logout': [200, 'true'],
  'GET /auth/oauth-config': [200, data({ github: 'boolean', google: 'boolean' })],
  'POST /auth/verify-email': [200, message],
  'POST /auth/request-verification': [200, message],
  'POST /auth/request-password-reset': [200, message],
  'POST /auth/reset-password': [200, message],
  'GET /users/@me': [200, user],
  'GET /users/@me/projects': [200, [project]],
  'POST /users/@me/projects': [201, project],
  'PATCH /users/@me/projects/:id': [200, project],
  'DELETE /users/@me/projects/:id': [200, { success: 'true', message: 'string' }],
  'POST /users/@me/projects/:id/regenerate-keys': [
    200,
    {
      id: 'uuid',
      name: 'string',
      public: 'string',
      secret: 'string',
      createdAt: 'instant',
      updatedAt: 'instant',
      disabled: 'boolean',
      customer: 'string | null',
      subscription: 'string | null',
    },
  ],
  'POST /users/@me/projects/:id/checkout': [200, { url: 'string' }],
  'POST /users/@me/projects/:id/billing-portal': [200, { url: 'string' }],
  'GET /users/@me/projects/:id/billing-limits': [200, limits],
  'PUT /users/@me/projects/:id/billing-limits': [200, limits],
  'GET /users/@me/projects/:id/billing-consumption': [
    200,
    {
      period: { start: 'instant', end: 'instant' },
      usage: { total: 'count', records: 'list' },
      credits: 'object | null',
      upcomingInvoice: 'object | null',
    },
  ],
  'GET /users/@me/projects/:id/billing-invoices': [
    200,
    { invoices: 'list', hasUnpaidInvoices: 'boolean', unpaidInvoices: 'list' },
  ],
  'GET /users/@me/projects/:id/security': [200, security],
  'POST /users/@me/projects/:id/reset': [200, { success: 'true', message: 'string' }],
  'GET /projects/:id/setup-state': [
    200,
    data({
      hasSubscription: 'boolean',
      hasVerifiedDomain: 'boolean',
      contactCount: 'count',
      lastCampaignSentAt: 'instant | null',
      hasEnabledWorkflow: 'boolean',
    }),
  ],
  'GET /projects/:id/security': [200, data(security)],
  'GET /projects/:id/members': [
    200,
    data([{ userId: 'uuid', email: 'string', role: 'string', createdAt: 'instant' }]),
  ],
  'POST /projects/:id/members': [200, data({ email: 'string', role: 'string' })],
  'PATCH /projects/:id/members/:userId': [
    200,
    data({ userId: 'uuid', email: 'string', role: 'string' }),
  ],
  'DELETE /projects/:id/members/:userId': [200, message],
  'GET /config': [
    200,
    {
      environment: 'string',
      urls: { api: 'string', dashboard: 'string', landing: 'string', wiki: 'string | null' },
      features: {
        billing: { enabled: 'boolean' },
        storage: { s3Enabled: 'boolean' },
        authProviders: { github: 'boolean', google: 'boolean' },
        signup: { signupsDisabled: 'boolean' },
        email: { trackingToggleEnabled: 'boolean' },
        smtp: { enabled: 'boolean', domain: 'string | null', ports: 'object | null' },
        sponsor: { enabled: 'boolean' },
      },
      aws: { sesRegion: 'string | null', mailFromSubdomain: 'string' },
    },
  ],
  'POST /webhooks/sns': [200, 'any'],
  'POST /webhooks/incoming/stripe': [200, 'any'],
}
