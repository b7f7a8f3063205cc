/**
 * The pages where recipients say what they wish (contract 6.6), by signed token only. GET shows and
 * changes nothing, however often scanners call it; POST acts. The forms of the pages carry a field
 * `wish` and lead back to their page, which then shows what is the case (303).
 *
 * `POST /unsubscribe/…` without that field is a mail program's one click (RFC 8058): whatever its
 * body and type, it answers 200 in plain text, and does nothing when the token is none of ours. Only
 * a wish that could not be kept is refused (503), so that it is said again.
 */
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { findPageContact } from '../../features/contacts/read/public-contact.ts'
import { changeSubscription, type Wish } from '../../features/contacts/write/subscription.ts'
import type { Core } from '../../features/core.ts'
import type { PageToken } from '../../mail/signed-tokens.ts'
import { createLayout, type Layout } from '../pages/layout.ts'
import { readerLanguage } from '../pages/reader-language.ts'
import { errorView, manageView, subscribeView, unsubscribeView, type View } from '../pages/views.ts'
import { type Call, openRoute, type Reply, type Route } from '../route.ts'
import { attribution, readPageLink } from '../shapes/page-link.ts'

const ownForm = z.object({
  wish: z.enum(['subscribe', 'unsubscribe']).optional().catch(undefined),
})

type Deps = Pick<Core, 'store' | 'keyring' | 'now'>
type Visit = Call<z.infer<typeof attribution>, unknown>
type Press = Call<z.infer<typeof attribution>, z.infer<typeof ownForm>>

export function pageRoutes(core: Deps): Route[] {
  const layout = createLayout()
  const shared = sharedShape(layout)
  const page = (path: string, view: View) =>
    openRoute({
      ...shared,
      method: 'GET',
      path,
      summary: 'Shows what is the case',
      handle: (visit) => show(core, visit, { layout, view }),
    })
  const act = (path: string, handle: (press: Press) => Promise<Reply>) =>
    openRoute({
      ...shared,
      method: 'POST',
      path,
      summary: 'Does what the recipient wishes',
      takesForm: true,
      body: ownForm,
      handle,
    })
  return [
    ...pathsOf('unsubscribe').flatMap((path) => [
      page(path, unsubscribeView),
      act(path, (press) => unsubscribe(core, press)),
    ]),
    ...pathsOf('subscribe').flatMap((path) => [
      page(path, subscribeView),
      act(path, (press) => change(core, press, 'subscribe')),
    ]),
    ...pathsOf('manage').flatMap((path) => [
      page(path, manageView),
      act(path, (press) => change(core, press, press.body.wish)),
    ]),
  ]
}

/** Also of a link that was cut off before its token: whoever follows it sees a page. */
function pathsOf(name: 'unsubscribe' | 'subscribe' | 'manage'): string[] {
  return [`/${name}/:token{.+}`, `/${name}/`, `/${name}`]
}

function sharedShape(layout: Layout) {
  return {
    permission: 'none',
    isHidden: true,
    isUnlogged: true,
    tag: 'Pages',
    query: attribution,
    responses: { 200: { description: 'A page' } },
    showError: (error: AppError, { headers }: Visit['incoming']) =>
      layout(errorView(error.status, readerLanguage(headers['accept-language']))),
  } as const
}

async function show(
  core: Deps,
  visit: Visit,
  { layout, view }: { layout: Layout; view: View },
): Promise<Reply> {
  const { contactId } = getPage(core, visit)
  const contact = await findPageContact(core, contactId)
  if (contact === undefined) throw notFound()
  return layout(view({ contact, link: linkOf(visit) }))
}

async function change(core: Deps, press: Press, wish: Press['body']['wish']): Promise<Reply> {
  const page = getPage(core, press)
  if (wish !== undefined) {
    const changed = await changeSubscription(core, page, toWish(press, wish === 'subscribe'))
    if (changed === undefined) throw notFound()
  }
  return backTo(press)
}

async function unsubscribe(core: Deps, press: Press): Promise<Reply> {
  const page = readPageLink(core, press.params.token)
  if (page === undefined) return heard
  const isOwnForm = press.body.wish !== undefined
  const wish = toWish(press, false)
  await changeSubscription(core, page, isOwnForm ? wish : { ...wish, reason: 'one-click' })
  return isOwnForm ? backTo(press) : heard
}

function toWish({ query }: Press, subscribed: boolean): Wish {
  return { subscribed, reason: 'page', claimedEmailId: query.e }
}

/** Says the same of every token, so that it tells nobody which are ours. */
const heard: Reply = {
  status: 200,
  body: 'OK\n',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
}

/** Relative, so that it holds wherever a proxy puts the pages. */
function backTo(press: Press): Reply {
  return { status: 303, body: '', headers: { location: linkOf(press) } }
}

/** The last part of a page's address; its token has been read. */
function linkOf({ params, query }: Visit): string {
  const token = params.token ?? ''
  return query.e === undefined ? token : `${token}?e=${query.e}`
}

/** @throws AppError RESOURCE_NOT_FOUND */
function getPage(core: Deps, { params }: Visit): PageToken {
  const page = readPageLink(core, params.token)
  if (page === undefined) throw notFound()
  return page
}

function notFound(): AppError {
  return new AppError('RESOURCE_NOT_FOUND', 'There is no such page.')
}
