/**
 * Every route of the server: method, path, callers, operation. The server, `/openapi.json` and the
 * tests read this table, so a new route is a new line here. Where paths overlap, the first matching
 * line is taken. A word that a path has in the place of an `:id` is no id, with any method:
 * `GET /emails/test` is 405.
 */
import type {
  KeyCaller,
  MemberCaller,
  MemberCallers,
  ProjectCaller,
  ProjectCallers,
  SessionCallers,
  UserCaller,
} from '../features/tenancy/accounts/callers/caller.ts'
import {
  type CallerCall,
  callerRoute,
  type Method,
  type Operation,
  openRoute,
  type RawCall,
  type Route,
  type RouteDeps,
} from './route.ts'
import * as accountPages from './routes/account-pages.ts'
import * as activity from './routes/activity.ts'
import * as mailAnalytics from './routes/analytics/mail.ts'
import * as subjectAnalytics from './routes/analytics/subjects.ts'
import { showTimeseries } from './routes/analytics/timeseries.ts'
import * as topAnalytics from './routes/analytics/top.ts'
import { logOut } from './routes/app-logout.ts'
import * as login from './routes/auth/login.ts'
import * as passwordReset from './routes/auth/password-reset.ts'
import { signUp } from './routes/auth/sign-up.ts'
import * as verification from './routes/auth/verification.ts'
import * as billingLimits from './routes/billing/limits.ts'
import * as billing from './routes/billing/subscription.ts'
import * as campaignAudience from './routes/campaigns/audience.ts'
import * as campaigns from './routes/campaigns/campaigns.ts'
import * as campaignComposing from './routes/campaigns/composing.ts'
import * as campaignFigures from './routes/campaigns/figures.ts'
import * as campaignSending from './routes/campaigns/sending.ts'
import * as campaignStopping from './routes/campaigns/stopping.ts'
import * as challenge from './routes/challenge.ts'
import * as contactBulk from './routes/contacts/bulk.ts'
import * as contacts from './routes/contacts/contacts.ts'
import * as contactExport from './routes/contacts/export.ts'
import * as contactFields from './routes/contacts/fields.ts'
import * as imports from './routes/contacts/import.ts'
import * as publicContacts from './routes/contacts/public.ts'
import * as contactVerify from './routes/contacts/verify.ts'
import * as dashboard from './routes/dashboard.ts'
import * as docs from './routes/docs.ts'
import * as domains from './routes/domains.ts'
import { test as sendEmailTest } from './routes/email-test.ts'
import * as emails from './routes/emails.ts'
import * as erasure from './routes/erasure.ts'
import * as events from './routes/events.ts'
import * as guide from './routes/guide.ts'
import * as health from './routes/health.ts'
import * as instance from './routes/instance.ts'
import * as jobs from './routes/jobs.ts'
import * as oauth from './routes/oauth.ts'
import * as pages from './routes/pages.ts'
import { accept as acceptInvitation } from './routes/projects/accept-invitation.ts'
import * as invitationPage from './routes/projects/invitation-page.ts'
import * as members from './routes/projects/members.ts'
import * as ownProjects from './routes/projects/own-projects.ts'
import * as projects from './routes/projects/projects.ts'
import * as receivers from './routes/projects/receivers.ts'
import { render } from './routes/render.ts'
import * as requests from './routes/requests.ts'
import { search } from './routes/search.ts'
import * as security from './routes/security.ts'
import * as segments from './routes/segments.ts'
import { send } from './routes/send.ts'
import { setUp } from './routes/setup.ts'
import * as sns from './routes/sns.ts'
import * as suppressions from './routes/suppressions.ts'
import * as templates from './routes/templates.ts'
import { track } from './routes/track.ts'
import * as tracking from './routes/tracking.ts'
import * as uploads from './routes/uploads.ts'
import * as self from './routes/users/self.ts'
import * as userSessions from './routes/users/sessions.ts'
import * as totp from './routes/users/totp.ts'
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

/** These types reject a route whose operation takes other callers than the route admits. */
type RouteRow =
  | TableRow<'anyone', Operation<RawCall>>
  | TableRow<ProjectCallers, Operation<CallerCall<ProjectCaller>>>
  | TableRow<MemberCallers, Operation<CallerCall<MemberCaller>>>
  | TableRow<SessionCallers, Operation<CallerCall<UserCaller>>>
  | TableRow<'verified session or key', Operation<CallerCall<UserCaller | KeyCaller>>>
  | TableRow<'operator or monitor', Operation<RawCall>>
type TableRow<Callers, Operates> = readonly [Method, string, Callers, (deps: RouteDeps) => Operates]

export const ROUTES: readonly RouteRow[] = [
  ['POST', '/v1/send', 'secret key', send],
  ['POST', '/v1/track', 'any key', track],
  ['POST', '/v1/verify', 'secret key', verify],

  ['GET', '/templates', 'member', templates.list],
  ['POST', '/templates', 'member', templates.create],
  ['POST', '/templates/bulk-update', 'member', templates.bulkUpdate],
  ['GET', '/templates/:id', 'member', templates.get],
  ['PATCH', '/templates/:id', 'member', templates.update],
  ['DELETE', '/templates/:id', 'member', templates.remove],
  ['POST', '/templates/:id/duplicate', 'member', templates.duplicate],
  ['GET', '/templates/:id/usage', 'member', templates.showUsage],

  ['GET', '/domains/project/:projectId', 'member', domains.list],
  ['POST', '/domains', 'admin', domains.add],
  ['GET', '/domains/:id/verify', 'member', domains.verify],
  ['DELETE', '/domains/:id', 'admin', domains.remove],

  ['GET', '/segments', 'member', segments.list],
  ['POST', '/segments', 'member', segments.create],
  ['GET', '/segments/:id', 'member', segments.get],
  ['PATCH', '/segments/:id', 'member', segments.update],
  ['DELETE', '/segments/:id', 'member', segments.remove],
  ['GET', '/segments/:id/contacts', 'member', segments.listContacts],
  ['POST', '/segments/:id/members', 'member', segments.addContacts],
  ['DELETE', '/segments/:id/members', 'member', segments.removeContacts],
  ['POST', '/segments/:id/check', 'member', segments.check],
  ['POST', '/segments/:id/compute', 'member', segments.compute],
  ['POST', '/segments/:id/refresh', 'member', segments.refresh],

  ['GET', '/campaigns', 'member', campaigns.list],
  ['POST', '/campaigns', 'member', campaigns.create],
  ['POST', '/campaigns/bulk-update', 'member', campaigns.bulkUpdate],
  ['POST', '/campaigns/audience', 'member', campaignAudience.count],
  ['GET', '/campaigns/:id', 'member', campaigns.get],
  ['PUT', '/campaigns/:id', 'member', campaigns.update],
  ['DELETE', '/campaigns/:id', 'member', campaigns.remove],
  ['GET', '/campaigns/:id/audience', 'member', campaignAudience.show],
  ['GET', '/campaigns/:id/stats', 'member', campaignFigures.showStats],
  ['GET', '/campaigns/:id/recipients', 'member', campaignFigures.list],
  ['GET', '/campaigns/:id/recipients/export', 'member', campaignFigures.exportCsv],
  ['GET', '/campaigns/:id/links', 'member', campaignFigures.showLinks],
  ['POST', '/campaigns/:id/duplicate', 'member', campaigns.duplicate],
  ['POST', '/campaigns/:id/archive', 'member', campaigns.archive],
  ['POST', '/campaigns/:id/unarchive', 'member', campaigns.unarchive],
  ['POST', '/campaigns/:id/check', 'member', campaignComposing.check],
  ['POST', '/campaigns/:id/test', 'member', campaignComposing.test],
  ['POST', '/campaigns/:id/send', 'member', campaignSending.send],
  ['POST', '/campaigns/:id/pause', 'member', campaignStopping.pause],
  ['POST', '/campaigns/:id/resume', 'member', campaignStopping.resume],
  ['POST', '/campaigns/:id/cancel', 'member', campaignStopping.cancel],
  ['POST', '/campaigns/:id/retry-failed', 'member', campaignStopping.retry],

  ['GET', '/workflows', 'member', workflows.list],
  ['POST', '/workflows', 'member', workflows.create],
  ['GET', '/workflows/fields', 'member', workflows.listFields],
  ['POST', '/workflows/bulk-update', 'member', workflows.bulkUpdate],
  ['GET', '/workflows/:id', 'member', workflows.get],
  ['PATCH', '/workflows/:id', 'member', workflows.update],
  ['DELETE', '/workflows/:id', 'member', workflows.remove],
  ['POST', '/workflows/:id/duplicate', 'member', workflows.duplicate],
  ['POST', '/workflows/:id/validate', 'member', workflowGraph.check],
  ['POST', '/workflows/:id/steps', 'member', workflowSteps.add],
  ['PATCH', '/workflows/:id/steps/:stepId', 'member', workflowSteps.update],
  ['DELETE', '/workflows/:id/steps/:stepId', 'member', workflowSteps.remove],
  ['POST', '/workflows/:id/transitions', 'member', workflowTransitions.add],
  [
    'POST',
    '/workflows/:id/transitions/:transitionId/insert-step',
    'member',
    workflowTransitions.insertStep,
  ],
  ['DELETE', '/workflows/:id/transitions/:transitionId', 'member', workflowTransitions.remove],
  ['PUT', '/workflows/:id/graph', 'member', workflowGraph.replace],
  ['GET', '/workflows/:id/stats', 'member', workflowStats.show],
  ['POST', '/workflows/:id/executions', 'member', executions.start],
  ['GET', '/workflows/:id/executions', 'member', executions.list],
  ['POST', '/workflows/:id/executions/cancel-all', 'member', executions.cancelAll],
  ['POST', '/workflows/:id/executions/bulk', 'member', executions.startBulk],
  ['GET', '/workflows/:id/executions/bulk/:jobId', 'member', executions.showBulk],
  ['GET', '/workflows/:id/executions/:eid', 'member', executions.show],
  ['DELETE', '/workflows/:id/executions/:eid', 'member', executions.cancel],
  ['POST', '/workflows/:id/executions/:eid/retry', 'member', executions.retry],

  ['POST', '/render', 'member', render],

  ['GET', '/emails', 'member', emails.list],
  ['GET', '/emails/counts', 'member', emails.count],
  ['POST', '/emails/test', 'member', sendEmailTest],
  ['GET', '/emails/:id', 'member', emails.show],
  ['GET', '/emails/:id/raw', 'member', emails.showRaw],
  ['POST', '/emails/:id/cancel', 'member', emails.cancel],
  ['POST', '/emails/:id/retry', 'member', emails.retry],

  ['GET', '/suppressions', 'member', suppressions.list],
  ['POST', '/suppressions', 'member', suppressions.add],
  ['DELETE', '/suppressions/:id', 'member', suppressions.remove],
  ['DELETE', '/suppressions', 'member', suppressions.removeMany],
  ['POST', '/suppressions/import', 'member', imports.importSuppressions],
  ['GET', '/suppressions/import/:jobId', 'member', imports.showSuppressionImport],

  // `usage` before the other GET routes: an event may be named `contact` or `jobs`.
  ['POST', '/events/track', 'member', events.record],
  ['GET', '/events/:eventName/usage', 'member', events.showUsage],
  ['DELETE', '/events/:eventName', 'member', events.removeByName],
  ['GET', '/events/jobs/:jobId', 'member', events.showDeletion],
  ['GET', '/events', 'member', events.list],
  ['GET', '/events/stats', 'member', events.countNames],
  ['GET', '/events/names', 'member', events.listNames],
  ['GET', '/events/contact/:contactId', 'member', events.listOfContact],

  ['GET', '/webhooks/endpoints', 'member', webhooks.list],
  ['POST', '/webhooks/endpoints', 'member', webhooks.create],
  ['GET', '/webhooks/endpoints/:id', 'member', webhooks.get],
  ['PATCH', '/webhooks/endpoints/:id', 'member', webhooks.update],
  ['DELETE', '/webhooks/endpoints/:id', 'member', webhooks.remove],
  ['POST', '/webhooks/endpoints/:id/rotate-secret', 'member', webhooks.rotateSecret],
  ['POST', '/webhooks/endpoints/:id/test', 'member', webhookDeliveries.test],
  ['GET', '/webhooks/endpoints/:id/deliveries', 'member', webhookDeliveries.list],
  [
    'POST',
    '/webhooks/endpoints/:id/deliveries/:deliveryId/replay',
    'member',
    webhookDeliveries.replay,
  ],
  ['POST', '/webhooks/endpoints/:id/replay', 'member', webhookDeliveries.replayRange],
  ['GET', '/webhooks/endpoints/:id/replay/:jobId', 'member', webhookDeliveries.showReplay],
  ['GET', '/webhooks/signing-secret', 'member', signingSecret.show],
  ['POST', '/webhooks/signing-secret/rotate', 'member', signingSecret.rotate],

  ['GET', '/activity', 'member', activity.list],
  ['GET', '/activity/stats', 'member', activity.showStats],
  ['GET', '/activity/recent-count', 'member', activity.countRecentActivity],
  ['GET', '/activity/types', 'member', activity.listTypes],
  ['GET', '/activity/upcoming', 'member', activity.listUpcomingActivity],

  ['GET', '/analytics/overview', 'member', mailAnalytics.showOverview],
  ['GET', '/analytics/timeseries', 'member', showTimeseries],
  ['GET', '/analytics/deliverability', 'member', mailAnalytics.showDeliverability],
  ['GET', '/analytics/leaderboard', 'member', mailAnalytics.showLeaderboard],
  ['GET', '/analytics/links', 'member', subjectAnalytics.listLinks],
  ['GET', '/analytics/events', 'member', subjectAnalytics.listEvents],
  ['GET', '/analytics/top-campaigns', 'member', topAnalytics.listTopCampaigns],
  ['GET', '/analytics/campaign-stats', 'member', topAnalytics.showCampaignStats],
  ['GET', '/analytics/top-events', 'member', topAnalytics.listTopEvents],

  ['POST', '/contacts/verify', 'member', contactVerify.start],
  ['GET', '/contacts/verify/:jobId', 'member', contactVerify.showStatus],
  ['GET', '/contacts/public/:id', 'anyone', publicContacts.get],
  ['POST', '/contacts/public/:id/subscribe', 'anyone', publicContacts.subscribe],
  ['POST', '/contacts/public/:id/unsubscribe', 'anyone', publicContacts.unsubscribe],
  ['GET', '/contacts/fields', 'member', contactFields.list],
  ['GET', '/contacts/fields/:field/values', 'member', contactFields.listValues],
  ['GET', '/contacts/fields/:field/usage', 'member', contactFields.showUsage],
  ['DELETE', '/contacts/fields/:field', 'member', contactFields.remove],
  ['POST', '/contacts/bulk-subscribe', 'member', contactBulk.subscribe],
  ['POST', '/contacts/bulk-unsubscribe', 'member', contactBulk.unsubscribe],
  ['POST', '/contacts/bulk-delete', 'member', contactBulk.remove],
  ['GET', '/contacts/bulk/:jobId', 'member', contactBulk.showStatus],
  ['POST', '/contacts/import', 'member', imports.importContacts],
  ['GET', '/contacts/import/:jobId', 'member', imports.showContactImport],
  ['GET', '/contacts/export', 'member', contactExport.exportCsv],
  ['GET', '/contacts', 'member', contacts.list],
  ['POST', '/contacts/query', 'member', contacts.query],
  ['POST', '/contacts/lookup', 'member', contacts.lookUp],
  ['POST', '/contacts', 'member', contacts.save],
  // Last below /contacts: any word matches `:id`.
  ['GET', '/contacts/:id', 'member', contacts.get],
  ['PATCH', '/contacts/:id', 'member', contacts.update],
  ['DELETE', '/contacts/:id', 'member', contacts.remove],

  // Authentication: log-in and second factor.
  ['POST', '/auth/login', 'anyone', login.login],
  ['GET', '/auth/logout', 'anyone', login.followLogout],
  ['POST', '/auth/logout', 'anyone', login.logout],

  // Authentication: sign-up, verification, reset.
  ['POST', '/auth/signup', 'anyone', signUp],
  ['POST', '/auth/verify-email', 'anyone', verification.verifyEmail],
  ['POST', '/auth/request-verification', 'session', verification.request],
  ['POST', '/auth/request-password-reset', 'anyone', passwordReset.request],
  ['POST', '/auth/reset-password', 'anyone', passwordReset.reset],
  ['GET', '/auth/verify-email', 'anyone', accountPages.showVerifyEmail],
  ['POST', '/verify-email', 'anyone', accountPages.confirmEmail],
  ['GET', '/auth/reset-password', 'anyone', accountPages.showResetPassword],
  ['POST', '/reset-password', 'anyone', accountPages.savePassword],

  // Authentication: the first user.
  ['POST', '/setup', 'anyone', setUp],

  // Authentication: other providers.
  ['GET', '/auth/oauth-config', 'anyone', oauth.showConfig],
  ['GET', '/oauth/:provider/outbound', 'anyone', oauth.begin],
  ['GET', '/oauth/:provider/callback', 'anyone', oauth.finish],
  ['GET', '/app', 'anyone', dashboard.showApp],
  ['GET', '/app/assets/:file{.+}', 'anyone', dashboard.showAsset],
  ['GET', '/app/frame', 'anyone', dashboard.showFrame],
  ['GET', '/app/frame-images', 'anyone', dashboard.showFrameWithImages],
  ['POST', '/app/logout', 'anyone', logOut],
  ['GET', '/app/:page{.+}', 'anyone', dashboard.showApp],

  // Users.
  ['GET', '/users/@me', 'session', self.show],
  ['PATCH', '/users/@me', 'session', self.update],
  ['GET', '/users/@me/sessions', 'session', userSessions.list],
  ['DELETE', '/users/@me/sessions/:id', 'session', userSessions.remove],
  ['POST', '/users/@me/totp', 'verified session', totp.start],
  ['POST', '/users/@me/totp/confirm', 'verified session', totp.confirm],
  ['DELETE', '/users/@me/totp', 'verified session', totp.remove],

  // Projects.
  ['GET', '/users/@me/projects', 'verified session', ownProjects.list],
  ['POST', '/users/@me/projects', 'verified session', ownProjects.create],
  ['PATCH', '/users/@me/projects/:id', 'admin of :id', ownProjects.update],
  ['POST', '/users/@me/projects/:id/regenerate-keys', 'admin of :id', ownProjects.regenerateKeys],
  ['GET', '/projects', 'verified session or key', projects.list],
  ['GET', '/projects/:id', 'member of :id or its key', projects.get],
  ['GET', '/projects/:id/setup-state', 'member of :id or its key', projects.showSetupState],
  ['GET', '/projects/:id/receivers', 'member of :id or its key', receivers.listOfProject],

  // Members and invitations.
  ['GET', '/projects/:id/members', 'member of :id', members.list],
  ['POST', '/projects/:id/members', 'admin of :id', members.add],
  ['PATCH', '/projects/:id/members/:userId', 'admin of :id', members.update],
  ['DELETE', '/projects/:id/members/:userId', 'member of :id', members.remove],
  ['GET', '/projects/:id/invitations', 'admin of :id', members.listOpen],
  ['DELETE', '/projects/:id/invitations/:invitationId', 'admin of :id', members.revoke],
  ['POST', '/auth/accept-invitation', 'anyone', acceptInvitation],
  ['GET', '/invitations/:token{.+}', 'anyone', invitationPage.show],
  ['POST', '/invitations/:token{.+}', 'anyone', invitationPage.accept],
  ['GET', '/invitations/', 'anyone', invitationPage.show],
  ['POST', '/invitations/', 'anyone', invitationPage.accept],
  ['GET', '/invitations', 'anyone', invitationPage.show],
  ['POST', '/invitations', 'anyone', invitationPage.accept],

  // Billing.
  ['POST', '/users/@me/projects/:id/checkout', 'admin of :id', billing.checkout],
  ['POST', '/users/@me/projects/:id/billing-portal', 'admin of :id', billing.portal],
  ['GET', '/users/@me/projects/:id/billing-consumption', 'member of :id', billing.showUse],
  ['GET', '/users/@me/projects/:id/billing-invoices', 'member of :id', billing.showInvoices],

  // Reset and deletion of projects.
  ['POST', '/users/@me/projects/:id/reset', 'admin of :id', erasure.reset],
  ['GET', '/users/@me/projects/:id/reset', 'member of :id', erasure.showReset],
  ['DELETE', '/users/@me/projects/:id', 'admin of :id', erasure.remove],

  // Limits by the month.
  ['GET', '/users/@me/projects/:id/billing-limits', 'member of :id', billingLimits.show],
  ['PUT', '/users/@me/projects/:id/billing-limits', 'admin of :id', billingLimits.set],

  // Security.
  ['GET', '/users/@me/projects/:id/security', 'member of :id', security.showOfMember],
  ['GET', '/projects/:id/security', 'member of :id or its key', security.show],

  // Uploads.
  ['POST', '/uploads/image', 'member', uploads.store],
  ['GET', '/uploads', 'member', uploads.list],
  ['GET', '/uploads/:name', 'anyone', uploads.serve],
  ['DELETE', '/uploads/:name', 'member', uploads.remove],

  // Search, jobs, requests and configuration.
  ['GET', '/search', 'member', search],
  ['GET', '/jobs', 'member', jobs.list],
  ['DELETE', '/jobs/:id', 'member', jobs.cancel],
  ['GET', '/requests', 'member', requests.list],
  ['GET', '/config', 'anyone', instance.showConfig],

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
  ['POST', '/webhooks/incoming/stripe', 'anyone', billing.receive],
  ['GET', '/.well-known/acme-challenge/:token', 'anyone', challenge.answer],
  ['GET', '/health', 'anyone', health.showHealth],
  ['GET', '/health/checks', 'operator or monitor', health.showChecks],
  ['GET', '/metrics', 'operator or monitor', health.showMetrics],
  ['GET', '/openapi.json', 'anyone', docs.showDescription],
  ['GET', '/', 'anyone', docs.redirectToDocs],
  ['GET', '/docs', 'anyone', docs.showPage],
  ['GET', '/docs/guide', 'anyone', guide.showOverview],
  ['GET', '/docs/guide/:page', 'anyone', guide.showPage],
  // Last below /docs: any word matches `:file`.
  ['GET', '/docs/:file', 'anyone', docs.showFile],
]

/** Creates the routes of the table, in the order of the table. */
export function createRoutes(deps: Omit<RouteDeps, 'listRoutes'>): Route[] {
  const shared: RouteDeps = { ...deps, listRoutes: () => routes }
  const routes = ROUTES.map((row) => toRoute(row, shared))
  return routes
}

/**
 * Creates the route of a row. The type `RouteRow` makes sure that the operation takes the callers
 * of its row.
 */
function toRoute([method, path, callers, create]: RouteRow, shared: RouteDeps): Route {
  if (callers === 'anyone') return openRoute({ method, path }, create(shared))
  if (callers === 'operator or monitor') {
    return { ...openRoute({ method, path }, create(shared)), callers }
  }
  return callerRoute({ method, path, callers }, create(shared))
}
