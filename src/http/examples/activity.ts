import type { Examples } from './operation-example.ts'

export const activityExamples: Examples = {
  'GET /activity': {
    query: {
      types: 'event.triggered',
      limit: '20',
    },
    status: 200,
    response: {
      data: [
        {
          id: '0199a7c0-0000-7000-8000-000000000014',
          type: 'event.triggered',
          timestamp: '2026-11-22T09:30:00.000Z',
          metadata: {
            eventName: 'page viewed',
            eventData: {
              path: '/pricing',
            },
          },
        },
        {
          id: '0199a7c0-0000-7000-8000-000000000013',
          type: 'event.triggered',
          timestamp: '2026-11-22T09:30:00.000Z',
          contactEmail: 'ann@example.org',
          contactId: '0199a7c0-0000-7000-8000-000000000003',
          metadata: {
            eventName: 'order placed',
            eventData: {
              total: {
                value: 42.5,
                persistent: false,
              },
            },
          },
        },
      ],
      cursor: null,
      hasMore: false,
      total: 2,
    },
  },
  'GET /activity/stats': {
    query: { startDate: '2026-11-01', endDate: '2026-11-02' },
    status: 200,
    response: {
      totalEvents: 722,
      totalEmailsSent: 1240,
      totalEmailsOpened: 561,
      totalEmailsClicked: 96,
      totalWorkflowsStarted: 3,
      openRate: 45.24,
      clickRate: 7.74,
    },
  },
  'GET /activity/recent-count': {
    query: {
      minutes: '5',
    },
    status: 200,
    response: {
      count: 5,
      minutes: 5,
    },
  },
  'GET /activity/types': {
    status: 200,
    response: {
      types: [
        'event.triggered',
        'email.sent',
        'email.delivered',
        'email.received',
        'email.opened',
        'email.clicked',
        'email.bounced',
        'email.complaint',
        'contact.subscribed',
        'contact.unsubscribed',
        'campaign.sent',
        'campaign.scheduled',
        'workflow.started',
        'workflow.completed',
        'workflow.email.scheduled',
        'workflow.execution.active',
      ],
    },
  },
  'GET /activity/upcoming': {
    status: 200,
    response: {
      activities: [],
    },
  },
}
