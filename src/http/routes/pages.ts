/**
 * The hosted pages where recipients manage their subscription. A signed token in the path gives
 * access. GET shows the state and changes nothing, so link scanners do no harm; POST changes it. The
 * forms of the pages carry a field `wish` and redirect (303) to their page, which shows the new state.
 *
 * `POST /unsubscribe/…` without that field is a mail program's one-click unsubscribe (RFC 8058). It
 * gets 200 in plain text whatever its body and content type, and does nothing when the token is not
 * valid. Only a change that cannot be stored is refused (503), so that the mail program tries again.
 */
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { findPageContact } from '../../features/contacts/read/public-contact.ts'
import {
  changeSubscription,
  type SubscriptionRequest,
} from '../../features/contacts/write/subscription-request.ts'
import type { Core } from '../../features/core.ts'
import type { PageToken } from '../../mail/signed-tokens.ts'
import { type Call, openOperation } from '../operation.ts'
import type { Layout } from '../pages/layout.ts'
import { readerLanguage } from '../pages/reader-language.ts'
import { errorView, manageView, subscribeView, unsubscribeView, type View } from '../pages/views.ts'
import type { HttpResponse } from '../response.ts'
import { attribution, readPageLink } from '../shapes/page-link.ts'

const ownForm = z.object({
  wish: z.enum(['subscribe', 'unsubscribe']).optional().catch(undefined),
})

type Deps = { core: Pick<Core, 'store' | 'keyring' | 'now'>; layout: Layout }
type Visit = Call<z.infer<typeof attribution>, unknown>
type Press = Call<z.infer<typeof attribution>, z.infer<typeof ownForm>>

export const showUnsubscribe = (deps: Deps) => pageOperation(deps, unsubscribeView)
export const showSubscribe = (deps: Deps) => pageOperation(deps, subscribeView)
export const showManage = (deps: Deps) => pageOperation(deps, manageView)

export const unsubscribe = (deps: Deps) =>
  formOperation(deps, (press) => takeUnsubscribe(deps.core, press))
export const subscribe = (deps: Deps) =>
  formOperation(deps, (press) => change(deps.core, press, 'subscribe'))
export const manage = (deps: Deps) =>
  formOperation(deps, (press) => change(deps.core, press, press.body.wish))

function pageOperation({ core, layout }: Deps, view: View) {
  return openOperation({
    ...sharedShape(layout),
    summary: "Show the contact's state",
    handle: async (visit) => {
      const { contactId } = getPage(core, visit)
      const contact = await findPageContact(core, contactId)
      if (contact === undefined) throw notFound()
      return layout(view({ contact, link: linkOf(visit) }))
    },
  })
}

function formOperation({ layout }: Deps, handle: (press: Press) => Promise<HttpResponse>) {
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
    showError: (error: AppError, { headers }: Visit['incoming']) =>
      layout(errorView(error.status, readerLanguage(headers['accept-language']))),
  } as const
}

async function change(
  core: Deps['core'],
  press: Press,
  wish: Press['body']['wish'],
): Promise<HttpResponse> {
  const page = getPage(core, press)
  if (wish !== undefined) {
    const changed = await changeSubscription(core, page, toRequest(press, wish === 'subscribe'))
    if (changed === undefined) throw notFound()
  }
  return backTo(press)
}

async function takeUnsubscribe(core: Deps['core'], press: Press): Promise<HttpResponse> {
  const page = readPageLink(core, press.params.token)
  if (page === undefined) return ACCEPTED
  const isOwnForm = press.body.wish !== undefined
  const request = toRequest(press, false)
  await changeSubscription(core, page, isOwnForm ? request : { ...request, reason: 'one-click' })
  return isOwnForm ? backTo(press) : ACCEPTED
}

function toRequest({ query }: Press, subscribed: boolean): SubscriptionRequest {
  return { subscribed, reason: 'page', claimedEmailId: query.e }
}

/** The response is the same for every token, so that it does not reveal which tokens are valid. */
const ACCEPTED: HttpResponse = {
  status: 200,
  body: 'OK\n',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
}

/** The location is relative, so that it works below any path that a proxy maps. */
function backTo(press: Press): HttpResponse {
  return { status: 303, body: '', headers: { location: linkOf(press) } }
}

/** The last part of the page's URL: a token that has been checked, and the query. */
function linkOf({ params, query }: Visit): string {
  const token = params.token ?? ''
  return query.e === undefined ? token : `${token}?e=${query.e}`
}

/** @throws AppError RESOURCE_NOT_FOUND */
function getPage(core: Deps['core'], { params }: Visit): PageToken {
  const page = readPageLink(core, params.token)
  if (page === undefined) throw notFound()
  return page
}

function notFound(): AppError {
  return new AppError('RESOURCE_NOT_FOUND', 'There is no such page.')
}
