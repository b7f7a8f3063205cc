/** Examples of the operations on figures: the figures of two days, and of the two days before. */
import type { OperationExample } from '../../route-docs.ts'

const query = { from: '2026-11-01', to: '2026-11-02', tz: 'Asia/Kathmandu' }
const dates = { startDate: '2026-11-01', endDate: '2026-11-02' }
const all = {
  sent: 1240,
  delivered: 1220,
  opened: 561,
  clicked: 96,
  bounced: 20,
  complained: 1,
  unsubscribed: 5,
  deliveryRate: 98.39,
  openRate: 45.24,
  clickRate: 7.74,
  clickToOpenRate: 16.04,
  bounceRate: 1.61,
  complaintRate: 0.08,
  unsubscribeRate: 0.4,
}
const before = {
  sent: 500,
  delivered: 498,
  opened: 200,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  deliveryRate: 99.6,
  openRate: 40,
  clickRate: 0,
  clickToOpenRate: 0,
  bounceRate: 0,
  complaintRate: 0,
  unsubscribeRate: 0,
}
const transactional = {
  sent: 40,
  delivered: 40,
  opened: 31,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  deliveryRate: 100,
  openRate: 77.5,
  clickRate: 0,
  clickToOpenRate: 0,
  bounceRate: 0,
  complaintRate: 0,
  unsubscribeRate: 0,
}
const campaign = {
  sent: 1200,
  delivered: 1180,
  opened: 530,
  clicked: 96,
  bounced: 20,
  complained: 1,
  unsubscribed: 5,
  deliveryRate: 98.33,
  openRate: 44.17,
  clickRate: 8,
  clickToOpenRate: 16.98,
  bounceRate: 1.67,
  complaintRate: 0.08,
  unsubscribeRate: 0.42,
}
const none = {
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  deliveryRate: 0,
  openRate: 0,
  clickRate: 0,
  clickToOpenRate: 0,
  bounceRate: 0,
  complaintRate: 0,
  unsubscribeRate: 0,
}
const range = {
  from: '2026-10-31T18:15:00.000Z',
  to: '2026-11-02T18:15:00.000Z',
  tz: 'Asia/Kathmandu',
  stream: 'ALL',
  isComplete: true,
}

export const showOverview = (): OperationExample => ({
  query,
  status: 200,
  response: {
    ...range,
    current: all,
    previous: before,
    streams: [
      { stream: 'TRANSACTIONAL', ...transactional },
      { stream: 'CAMPAIGN', ...campaign },
      { stream: 'WORKFLOW', ...none },
    ],
  },
})

export const showTimeseries = (): OperationExample => ({
  query: { ...query, granularity: 'day' },
  status: 200,
  response: {
    ...range,
    granularity: 'day',
    current: [
      { date: '2026-11-01', ...campaign },
      { date: '2026-11-02', ...transactional },
    ],
    previous: [
      { date: '2026-10-30', ...none },
      { date: '2026-10-31', ...before },
    ],
  },
})

export const showDeliverability = (): OperationExample => ({
  query,
  status: 200,
  response: {
    ...range,
    hardBounces: 18,
    softBounces: 2,
    complaints: 1,
    providers: [
      {
        provider: 'Gmail',
        sent: 840,
        delivered: 832,
        opened: 411,
        clicked: 70,
        bounced: 8,
        complained: 1,
        unsubscribed: 5,
        deliveryRate: 99.05,
        openRate: 48.93,
        clickRate: 8.33,
        clickToOpenRate: 16.06,
        bounceRate: 0.95,
        complaintRate: 0.12,
        unsubscribeRate: 0.6,
        hardBounces: 6,
        softBounces: 2,
      },
      {
        provider: 'Microsoft',
        sent: 400,
        delivered: 388,
        opened: 150,
        clicked: 26,
        bounced: 12,
        complained: 0,
        unsubscribed: 0,
        deliveryRate: 97,
        openRate: 37.5,
        clickRate: 6.5,
        clickToOpenRate: 16,
        bounceRate: 3,
        complaintRate: 0,
        unsubscribeRate: 0,
        hardBounces: 12,
        softBounces: 0,
      },
    ],
  },
})

export const showLeaderboard = (): OperationExample => ({
  query: { ...query, kind: 'campaigns', limit: '5' },
  status: 200,
  response: {
    ...range,
    kind: 'campaigns',
    rows: [{ id: '0199a7c0-0000-7000-8000-000000000901', name: 'Autumn sale', ...campaign }],
  },
})

export const listLinks = (): OperationExample => ({
  query,
  status: 200,
  response: {
    ...range,
    totalClicks: 131,
    links: [
      { url: 'https://example.com/autumn', clicks: 120, uniqueClickers: 88 },
      { url: 'https://example.com/', clicks: 11, uniqueClickers: 8 },
    ],
  },
})

export const listEvents = (): OperationExample => ({
  query,
  status: 200,
  response: {
    ...range,
    events: [
      { name: 'email.open', count: 702, previousCount: 260 },
      { name: 'order placed', count: 17, previousCount: 0 },
      { name: 'workflow.started', count: 3, previousCount: 0 },
    ],
  },
})

export const listTopCampaigns = (): OperationExample => ({
  query: { limit: '5' },
  status: 200,
  response: [
    {
      id: '0199a7c0-0000-7000-8000-000000000901',
      subject: 'Autumn sale: 20% off',
      sentCount: 1200,
      openedCount: 530,
      clickedCount: 96,
      openRate: 44.17,
      clickRate: 8,
    },
  ],
})

export const showCampaignStats = (): OperationExample => ({
  status: 200,
  response: { total: 5, active: 3, completed: 1, averageOpenRate: 44.2, averageClickRate: 8 },
})

export const listTopEvents = (): OperationExample => ({
  query: { ...dates, limit: '2' },
  status: 200,
  response: [
    { name: 'email.open', count: 702, trend: 170 },
    { name: 'order placed', count: 17, trend: 100 },
  ],
})
