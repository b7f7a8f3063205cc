/**
 * Every route of the server: method, path, callers, operation. The server, `/openapi.json` and the
 * tests read this table, so a new route is a new line here. Where paths overlap, the first matching
 * line is taken.
 */
import type { KeyCallers } from '../features/accounts/caller.ts'
import {
  type CallerCall,
  keyRoute,
  type Method,
  type Operation,
  openRoute,
  type RawCall,
  type Route,
  type RouteDeps,
} from './route.ts'
import * as activity from './routes/activity.ts'
import * as campaignAudience from './routes/campaigns/audience.ts'
import * as campaigns from './routes/campaigns/campaigns.ts'
import * as campaignComposing from './routes/campaigns/composing.ts'
import * as campaignFigures from './routes/campaigns/figures.ts'
import * as campaignSending from './routes/campaigns/sending.ts'
import * as campaignStopping from './routes/campaigns/stopping.ts'
import * as contactBulk from './routes/contacts/bulk.ts'
import * as contacts from './routes/contacts/contacts.ts'
import * as contactExport from './routes/contacts/export.ts'
import * as contactFields from './routes/contacts/fields.ts'
import * as imports from './routes/contacts/import.ts'
import * as publicContacts from './routes/contacts/public.ts'
import * as contactVerify from './routes/contacts/verify.ts'
import * as docs from './routes/docs.ts'
import * as domains from './routes/domains.ts'
import * as emails from './routes/emails.ts'
import * as events from './routes/events.ts'
import * as guide from './routes/guide.ts'
import * as health from './routes/health.ts'
import * as pages from './routes/pages.ts'
import { render } from './routes/render.ts'
import * as segments from './routes/segments.ts'
import { send } from './routes/send.ts'
import * as sns from './routes/sns.ts'
import * as suppressions from './routes/suppressions.ts'
import * as templates from './routes/templates.ts'
import { track } from './routes/track.ts'
import * as tracking from './routes/tracking.ts'
import { verify } from './routes/verify.ts'
import * as webhookDeliveries from './routes/webhooks/deliveries.ts'
import * as webhooks from './routes/webhooks/endpoints.ts'
import * as signingSecret from './routes/webhooks/signing-secret.ts'
import * as executions from './routes/workflows/executions.ts'
import * as workflowGraph from './routes/workflows/graph.ts'
import * as workflowStats from './routes/workflows/stats.ts'
import * as workflowSteps from './routes/workflows/steps.ts'
import * as workflowTransitions from './routes/workflows/transitions.ts'
import * as workflows from './routes/workflows/workflows.ts'

/** The types reject a route for `anyone` whose operation needs a caller. */
type RouteRow =
  | readonly [Method, string, 'anyone', (deps: RouteDeps) => Operation<RawCall>]
  | readonly [Method, string, KeyCallers, (deps: RouteDeps) => Operation<CallerCall>]

export const ROUTES: readonly RouteRow[] = [
  ['POST', '/v1/send', 'secret key', send],
  ['POST', '/v1/track', 'any key', track],
  ['POST', '/v1/verify', 'secret key', verify],

  ['GET', '/templates', 'secret key', templates.list],
  ['POST', '/templates', 'secret key', templates.create],
  ['POST', '/templates/bulk-update', 'secret key', templates.bulkUpdate],
  ['GET', '/templates/:id', 'secret key', templates.get],
  ['PATCH', '/templates/:id', 'secret key', templates.update],
  ['DELETE', '/templates/:id', 'secret key', templates.remove],
  ['POST', '/templates/:id/duplicate', 'secret key', templates.duplicate],
  ['GET', '/templates/:id/usage', 'secret key', templates.showUsage],

  ['GET', '/domains/project/:projectId', 'secret key', domains.list],
  ['POST', '/domains', 'secret key', domains.add],
  ['GET', '/domains/:id/verify', 'secret key', domains.verify],
  ['DELETE', '/domains/:id', 'secret key', domains.remove],

  ['GET', '/segments', 'secret key', segments.list],
  ['POST', '/segments', 'secret key', segments.create],
  ['GET', '/segments/:id', 'secret key', segments.get],
  ['PATCH', '/segments/:id', 'secret key', segments.update],
  ['DELETE', '/segments/:id', 'secret key', segments.remove],
  ['GET', '/segments/:id/contacts', 'secret key', segments.listContacts],
  ['POST', '/segments/:id/members', 'secret key', segments.addContacts],
  ['DELETE', '/segments/:id/members', 'secret key', segments.removeContacts],
  ['POST', '/segments/:id/compute', 'secret key', segments.compute],
  ['POST', '/segments/:id/refresh', 'secret key', segments.refresh],

  ['GET', '/campaigns', 'secret key', campaigns.list],
  ['POST', '/campaigns', 'secret key', campaigns.create],
  ['POST', '/campaigns/bulk-update', 'secret key', campaigns.bulkUpdate],
  ['POST', '/campaigns/audience', 'secret key', campaignAudience.count],
  ['GET', '/campaigns/:id', 'secret key', campaigns.get],
  ['PUT', '/campaigns/:id', 'secret key', campaigns.update],
  ['DELETE', '/campaigns/:id', 'secret key', campaigns.remove],
  ['GET', '/campaigns/:id/audience', 'secret key', campaignAudience.show],
  ['GET', '/campaigns/:id/stats', 'secret key', campaignFigures.showStats],
  ['GET', '/campaigns/:id/recipients', 'secret key', campaignFigures.list],
  ['GET', '/campaigns/:id/recipients/export', 'secret key', campaignFigures.exportCsv],
  ['GET', '/campaigns/:id/links', 'secret key', campaignFigures.showLinks],
  ['POST', '/campaigns/:id/duplicate', 'secret key', campaigns.duplicate],
  ['POST', '/campaigns/:id/archive', 'secret key', campaigns.archive],
  ['POST', '/campaigns/:id/unarchive', 'secret key', campaigns.unarchive],
  ['POST', '/campaigns/:id/check', 'secret key', campaignComposing.check],
  ['POST', '/campaigns/:id/test', 'secret key', campaignComposing.test],
  ['POST', '/campaigns/:id/send', 'secret key', campaignSending.send],
  ['POST', '/campaigns/:id/pause', 'secret key', campaignStopping.pause],
  ['POST', '/campaigns/:id/resume', 'secret key', campaignStopping.resume],
  ['POST', '/campaigns/:id/cancel', 'secret key', campaignStopping.cancel],
  ['POST', '/campaigns/:id/retry-failed', 'secret key', campaignStopping.retry],

  ['GET', '/workflows', 'secret key', workflows.list],
  ['POST', '/workflows', 'secret key', workflows.create],
  ['GET', '/workflows/fields', 'secret key', workflows.listFields],
  ['POST', '/workflows/bulk-update', 'secret key', workflows.bulkUpdate],
  ['GET', '/workflows/:id', 'secret key', workflows.get],
  ['PATCH', '/workflows/:id', 'secret key', workflows.update],
  ['DELETE', '/workflows/:id', 'secret key', workflows.remove],
  ['POST', '/workflows/:id/duplicate', 'secret key', workflows.duplicate],
  ['POST', '/workflows/:id/validate', 'secret key', workflowGraph.check],
  ['POST', '/workflows/:id/steps', 'secret key', workflowSteps.add],
  ['PATCH', '/workflows/:id/steps/:stepId', 'secret key', workflowSteps.update],
  ['DELETE', '/workflows/:id/steps/:stepId', 'secret key', workflowSteps.remove],
  ['POST', '/workflows/:id/transitions', 'secret key', workflowTransitions.add],
  [
    'POST',
    '/workflows/:id/transitions/:transitionId/insert-step',
    'secret key',
    workflowTransitions.insertStep,
  ],
  ['DELETE', '/workflows/:id/transitions/:transitionId', 'secret key', workflowTransitions.remove],
  ['PUT', '/workflows/:id/graph', 'secret key', workflowGraph.replace],
  ['GET', '/workflows/:id/stats', 'secret key', workflowStats.show],
  ['POST', '/workflows/:id/executions', 'secret key', executions.start],
  ['GET', '/workflows/:id/executions', 'secret key', executions.list],
  ['POST', '/workflows/:id/executions/cancel-all', 'secret key', executions.cancelAll],
  ['POST', '/workflows/:id/executions/bulk', 'secret key', executions.startBulk],
  ['GET', '/workflows/:id/executions/bulk/:jobId', 'secret key', executions.showBulk],
  ['GET', '/workflows/:id/executions/:eid', 'secret key', executions.show],
  ['DELETE', '/workflows/:id/executions/:eid', 'secret key', executions.cancel],
  ['POST', '/workflows/:id/executions/:eid/retry', 'secret key', executions.retry],

  ['POST', '/render', 'secret key', render],

  ['GET', '/emails', 'secret key', emails.list],
  ['GET', '/emails/:id', 'secret key', emails.show],
  ['GET', '/emails/:id/raw', 'secret key', emails.showRaw],
  ['POST', '/emails/:id/cancel', 'secret key', emails.cancel],
  ['POST', '/emails/:id/retry', 'secret key', emails.retry],

  ['GET', '/suppressions', 'secret key', suppressions.list],
  ['POST', '/suppressions', 'secret key', suppressions.add],
  ['DELETE', '/suppressions/:id', 'secret key', suppressions.remove],
  ['DELETE', '/suppressions', 'secret key', suppressions.removeMany],
  ['POST', '/suppressions/import', 'secret key', imports.importSuppressions],
  ['GET', '/suppressions/import/:jobId', 'secret key', imports.showSuppressionImport],

  // `usage` before the other GET routes: an event may be named `contact` or `jobs`.
  ['POST', '/events/track', 'secret key', events.record],
  ['GET', '/events/:eventName/usage', 'secret key', events.showUsage],
  ['DELETE', '/events/:eventName', 'secret key', events.removeByName],
  ['GET', '/events/jobs/:jobId', 'secret key', events.showDeletion],
  ['GET', '/events', 'secret key', events.list],
  ['GET', '/events/stats', 'secret key', events.countNames],
  ['GET', '/events/names', 'secret key', events.listNames],
  ['GET', '/events/contact/:contactId', 'secret key', events.listOfContact],

  ['GET', '/webhooks/endpoints', 'secret key', webhooks.list],
  ['POST', '/webhooks/endpoints', 'secret key', webhooks.create],
  ['GET', '/webhooks/endpoints/:id', 'secret key', webhooks.get],
  ['PATCH', '/webhooks/endpoints/:id', 'secret key', webhooks.update],
  ['DELETE', '/webhooks/endpoints/:id', 'secret key', webhooks.remove],
  ['POST', '/webhooks/endpoints/:id/rotate-secret', 'secret key', webhooks.rotateSecret],
  ['POST', '/webhooks/endpoints/:id/test', 'secret key', webhookDeliveries.test],
  ['GET', '/webhooks/endpoints/:id/deliveries', 'secret key', webhookDeliveries.list],
  [
    'POST',
    '/webhooks/endpoints/:id/deliveries/:deliveryId/replay',
    'secret key',
    webhookDeliveries.replay,
  ],
  ['POST', '/webhooks/endpoints/:id/replay', 'secret key', webhookDeliveries.replayRange],
  ['GET', '/webhooks/endpoints/:id/replay/:jobId', 'secret key', webhookDeliveries.showReplay],
  ['GET', '/webhooks/signing-secret', 'secret key', signingSecret.show],
  ['POST', '/webhooks/signing-secret/rotate', 'secret key', signingSecret.rotate],

  ['GET', '/activity', 'secret key', activity.list],
  ['GET', '/activity/stats', 'secret key', activity.showStats],
  ['GET', '/activity/recent-count', 'secret key', activity.countRecentActivity],
  ['GET', '/activity/types', 'secret key', activity.listTypes],
  ['GET', '/activity/upcoming', 'secret key', activity.listUpcomingActivity],

  ['POST', '/contacts/verify', 'secret key', contactVerify.start],
  ['GET', '/contacts/verify/:jobId', 'secret key', contactVerify.showStatus],
  ['GET', '/contacts/public/:id', 'anyone', publicContacts.get],
  ['POST', '/contacts/public/:id/subscribe', 'anyone', publicContacts.subscribe],
  ['POST', '/contacts/public/:id/unsubscribe', 'anyone', publicContacts.unsubscribe],
  ['GET', '/contacts/fields', 'secret key', contactFields.list],
  ['GET', '/contacts/fields/:field/values', 'secret key', contactFields.listValues],
  ['GET', '/contacts/fields/:field/usage', 'secret key', contactFields.showUsage],
  ['DELETE', '/contacts/fields/:field', 'secret key', contactFields.remove],
  ['POST', '/contacts/bulk-subscribe', 'secret key', contactBulk.subscribe],
  ['POST', '/contacts/bulk-unsubscribe', 'secret key', contactBulk.unsubscribe],
  ['POST', '/contacts/bulk-delete', 'secret key', contactBulk.remove],
  ['GET', '/contacts/bulk/:jobId', 'secret key', contactBulk.showStatus],
  ['POST', '/contacts/import', 'secret key', imports.importContacts],
  ['GET', '/contacts/import/:jobId', 'secret key', imports.showContactImport],
  ['GET', '/contacts/export', 'secret key', contactExport.exportCsv],
  ['GET', '/contacts', 'secret key', contacts.list],
  ['POST', '/contacts/query', 'secret key', contacts.query],
  ['POST', '/contacts/lookup', 'secret key', contacts.lookUp],
  ['POST', '/contacts', 'secret key', contacts.save],
  // Last below /contacts: any word matches `:id`.
  ['GET', '/contacts/:id', 'secret key', contacts.get],
  ['PATCH', '/contacts/:id', 'secret key', contacts.update],
  ['DELETE', '/contacts/:id', 'secret key', contacts.remove],

  // Links that were cut off before their token lead to a page too.
  ['GET', '/unsubscribe/:token{.+}', 'anyone', pages.showUnsubscribe],
  ['POST', '/unsubscribe/:token{.+}', 'anyone', pages.unsubscribe],
  ['GET', '/unsubscribe/', 'anyone', pages.showUnsubscribe],
  ['POST', '/unsubscribe/', 'anyone', pages.unsubscribe],
  ['GET', '/unsubscribe', 'anyone', pages.showUnsubscribe],
  ['POST', '/unsubscribe', 'anyone', pages.unsubscribe],
  ['GET', '/subscribe/:token{.+}', 'anyone', pages.showSubscribe],
  ['POST', '/subscribe/:token{.+}', 'anyone', pages.subscribe],
  ['GET', '/subscribe/', 'anyone', pages.showSubscribe],
  ['POST', '/subscribe/', 'anyone', pages.subscribe],
  ['GET', '/subscribe', 'anyone', pages.showSubscribe],
  ['POST', '/subscribe', 'anyone', pages.subscribe],
  ['GET', '/manage/:token{.+}', 'anyone', pages.showManage],
  ['POST', '/manage/:token{.+}', 'anyone', pages.manage],
  ['GET', '/manage/', 'anyone', pages.showManage],
  ['POST', '/manage/', 'anyone', pages.manage],
  ['GET', '/manage', 'anyone', pages.showManage],
  ['POST', '/manage', 'anyone', pages.manage],

  ['GET', '/t/o/:token', 'anyone', tracking.open],
  ['GET', '/t/c/:token', 'anyone', tracking.click],

  ['POST', '/webhooks/sns', 'anyone', sns.receive],
  ['GET', '/health', 'anyone', health.showHealth],
  ['GET', '/metrics', 'anyone', health.showMetrics],
  ['GET', '/openapi.json', 'anyone', docs.showDescription],
  ['GET', '/', 'anyone', docs.redirectToDocs],
  ['GET', '/docs', 'anyone', docs.showPage],
  ['GET', '/docs/guide', 'anyone', guide.showOverview],
  ['GET', '/docs/guide/:page', 'anyone', guide.showPage],
  // Last below /docs: any word matches `:file`.
  ['GET', '/docs/:file', 'anyone', docs.showFile],
]

/** The routes of the table, in its order. */
export function createRoutes(deps: Omit<RouteDeps, 'listRoutes'>): Route[] {
  const shared: RouteDeps = { ...deps, listRoutes: () => routes }
  const routes = ROUTES.map(([method, path, callers, create]) =>
    callers === 'anyone'
      ? openRoute({ method, path }, create(shared))
      : keyRoute({ method, path, callers }, create(shared)),
  )
  return routes
}
