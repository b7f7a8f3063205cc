/**
 * The hosted pages where recipients manage their subscription. A signed token in the path gives
 * access. GET shows the state and changes nothing, so link scanners do no harm; POST changes it. The
 * forms of the pages carry a field `wish` and redirect (303) to their page, which shows the new state.
 *
 * `POST /unsubscribe/…` without that field is a mail program's one-click unsubscribe (RFC 8058). The
 * response is 200 in plain text for any body and content type, and for a token that is not valid. Only a
 * change that cannot be stored is refused (503), so that the mail program tries again, and a link whose
 * contact and email are gone without a trace (410): a 200 would say that its reader is unsubscribed.
 */
import { z } from 'zod'
import { AppError } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import { findPageContact } from '../../features/people/contacts/read/public-contact.ts'
import {
  changeSubscription,
  type SubscriptionRequest,
} from '../../features/people/contacts/write/subscription-request.ts'
import type { PageToken } from '../../formats/signed-tokens.ts'
import { attribution, readPageLink } from '../page-link.ts'
import { type Layout, NO_SUCH_PAGE } from '../pages/layout.ts'
import { readerLanguage } from '../pages/reader-language.ts'
import {
  errorView,
  goneView,
  manageView,
  subscribeView,
  unsubscribeView,
  type View,
} from '../pages/views.ts'
import type { HttpResponse } from '../response.ts'
import { type Call, openOperation } from '../route.ts'

const ownForm = z.object({
  wish: z.enum(['subscribe', 'unsubscribe']).optional().catch(undefined),
  // Mail programs send it with one click (RFC 8058).
  'List-Unsubscribe': z.string().optional().catch(undefined),
})

type Deps = { core: Pick<Core, 'store' | 'config' | 'keyring' | 'doctor' | 'now'>; layout: Layout }
type PageCall = Call<z.infer<typeof attribution>, unknown>
type FormCall = Call<z.infer<typeof attribution>, z.infer<typeof ownForm>>

export const showUnsubscribe = (deps: Deps) => pageOperation(deps, unsubscribeView)
export const showSubscribe = (deps: Deps) => pageOperation(deps, subscribeView)
export const showManage = (deps: Deps) => pageOperation(deps, manageView)

export const unsubscribe = (deps: Deps) =>
  formOperation(deps, (call) => changeByUnsubscribe(deps, call))
export const subscribe = (deps: Deps) =>
  formOperation(deps, (call) => changeByForm(deps, call, 'subscribe'))
export const manage = (deps: Deps) =>
  formOperation(deps, (call) => changeByForm(deps, call, call.body.wish))

function pageOperation({ core, layout }: Deps, view: View) {
  return openOperation({
    ...sharedShape(layout),
    summary: "Show the contact's state",
    handle: async (call) => {
      const contact = await findPageContact(core, getPage(core, call))
      if (contact === undefined) return gone({ layout }, call)
      return layout(view({ contact, link: pageLinkOf(call) }))
    },
  })
}

function formOperation({ layout }: Deps, handle: (call: FormCall) => Promise<HttpResponse>) {
  return openOperation({
    ...sharedShape(layout),
    summary: 'Change the subscription as the form of the page requests',
    takesForm: true,
    body: ownForm,
    handle,
  })
}

function sharedShape(layout: Layout) {
  return {
    isHidden: true,
    isUnlogged: true,
    tag: 'Pages',
    query: attribution,
    responses: { 200: { description: 'A page' } },
    showError: (error: AppError, { headers }: PageCall['incoming']) =>
      layout(errorView(error.status, readerLanguage(headers['accept-language']))),
  } as const
}

async function changeByForm(
  { core, layout }: Deps,
  call: FormCall,
  wish: FormCall['body']['wish'],
): Promise<HttpResponse> {
  const page = getPage(core, call)
  if (wish !== undefined) {
    const changed = await changeSubscription(core, page, toRequest(call, wish === 'subscribe'))
    if (changed === undefined) return gone({ layout }, call)
  }
  return redirectToPage(call)
}

async function changeByUnsubscribe({ core, layout }: Deps, call: FormCall): Promise<HttpResponse> {
  const page = findPage(core, call)
  if (page === undefined) return ACCEPTED
  const isOwnForm = call.body.wish !== undefined
  const request = toRequest(call, false)
  const reason = isOwnForm ? 'page' : 'one-click'
  const changed = await changeSubscription(core, page, { ...request, reason })
  if (changed === undefined) return gone({ layout }, call)
  return isOwnForm ? redirectToPage(call) : ACCEPTED
}

function toRequest({ query }: FormCall, subscribed: boolean): SubscriptionRequest {
  return { subscribed, reason: 'page', statedEmailId: query.e }
}

function gone({ layout }: Pick<Deps, 'layout'>, { incoming }: PageCall): Promise<HttpResponse> {
  return layout(goneView(readerLanguage(incoming.headers['accept-language'])))
}

const ACCEPTED: HttpResponse = {
  status: 200,
  body: 'OK\n',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
}

/** The location is relative, so that it works below any path that a proxy maps. */
function redirectToPage(call: FormCall): HttpResponse {
  return { status: 303, body: '', headers: { location: pageLinkOf(call) } }
}

/** The last part of the page's URL: a token that has been checked, and the query. */
function pageLinkOf({ params, query }: PageCall): string {
  const token = params.token ?? ''
  return query.e === undefined ? token : `${token}?e=${query.e}`
}

/** @throws AppError RESOURCE_NOT_FOUND */
function getPage(core: Deps['core'], call: PageCall): PageToken {
  const page = findPage(core, call)
  if (page === undefined) throw notFound()
  return page
}

/**
 * Reads the token of the path; returns undefined for an invalid token. The doctor of this server
 * requests this page with invalid tokens, to see whether its own requests arrive.
 */
function findPage(core: Deps['core'], { params }: PageCall): PageToken | undefined {
  const page = readPageLink(core, params.token)
  if (page === undefined) core.doctor.arrivals.note(params.token)
  return page
}

function notFound(): AppError {
  return new AppError('RESOURCE_NOT_FOUND', NO_SUCH_PAGE)
}
