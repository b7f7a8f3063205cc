/** The story of an email: first where it is and whether somebody must act, then what happened. */
import type { ComponentChildren } from 'preact'
import { useLocation, useRoute } from 'preact-iso/router'
import { ApiFailure } from '../../api/client.ts'
import { failureOf, queryClient, useCall, useInput } from '../../api/queries.ts'
import { isExpired, isWaiting, stateOf } from '../../logic/email-state.ts'
import { rowReason } from '../../logic/row-reason.ts'
import { readState, writeState } from '../../logic/url-state.ts'
import { visible } from '../../logic/visible.ts'
import { emails as emailsTexts } from '../../text/en/emails.ts'
import { story as storyTexts } from '../../text/en/story.ts'
import { addTexts, t, tx } from '../../text/text.ts'
import { lazy } from '../../ui/lazy.tsx'
import { link } from '../../ui/link.ts'
import { Page } from '../../ui/page.tsx'
import { PhraseText } from '../../ui/phrase.tsx'
import { Failed, Loading, NotFound } from '../../ui/state.tsx'
import { Suspense } from '../../ui/suspense.tsx'
import { Actions } from './actions.tsx'
import { AnswerNote } from './answer.tsx'
import { Aside } from './aside.tsx'
import type { ContentView } from './content.tsx'
import type { EmailRecord } from './record.ts'
import { Story } from './story.tsx'
import { useSuppression } from './use-suppression.ts'

addTexts(emailsTexts, storyTexts)

const Content = lazy(() => import('./content.tsx'))

const VIEWS = ['story', 'mail', 'text', 'headers', 'source'] as const
type View = (typeof VIEWS)[number]
const FIELDS = { tab: { kind: 'one', values: VIEWS } } as const

/** An email that has ended changes seldom: by opens, clicks and reports. */
const ENDED_POLL_MS = 30_000

export default function Email() {
  const { id = '' } = useRoute().params
  // Another email is another screen: nothing of the first one may stay.
  return <EmailScreen key={id} id={id} />
}

function EmailScreen({ id }: { id: string }) {
  const input = useInput({ params: { id } })
  const before = queryClient.getQueryData<EmailRecord>(['GET /emails/{id}', input])
  const poll = before === undefined || isWaiting(stateOf(before)) ? 'fast' : ENDED_POLL_MS
  const query = useCall('GET /emails/{id}', input, { poll })
  const { data: email, dataUpdatedAt, refetch } = query
  const error = failureOf(query)
  const trail = <a href={link('/emails')}>{t('nav.emails')}</a>
  if (email === undefined) {
    const isGone = error instanceof ApiFailure && [404, 422].includes(error.status)
    return (
      <Page title={t('nav.emails')} trail={trail}>
        <div class="body">
          {isGone && <NotFound text={t('story.gone')} />}
          {!isGone && error !== null && <Failed error={error} onRetry={() => void refetch()} />}
          {error === null && <Loading rows={8} />}
        </div>
      </Page>
    )
  }
  return (
    <Shown email={email} trail={trail}>
      {error !== null && (
        <Failed error={error} asOf={dataUpdatedAt} onRetry={() => void refetch()} />
      )}
    </Shown>
  )
}

type ShownProps = {
  email: EmailRecord
  trail: ComponentChildren
  /** What is to be said about the whole. */
  children: ComponentChildren
}

function Shown({ email, trail, children }: ShownProps) {
  const { url, path } = useLocation()
  const state = stateOf(email)
  const suppression = useSuppression(email)
  const tab = (readState(FIELDS, url.slice(path.length)).tab || 'story') as View
  const subject = email.subject === '' ? t('emails.noSubject') : visible(email.subject)
  const own = email.fromName === null ? email.from : `${email.fromName} <${email.from}>`
  // Received mail has the address of the person in the same place, and the one that it was sent to as its sender.
  const isReceived = state === 'received'
  const [to, from] = isReceived ? [own, email.recipientAddress] : [email.recipientAddress, own]
  return (
    <Page
      title={`${subject} · ${t('nav.emails')}`}
      heading={<Heading email={email} />}
      trail={trail}
      text={
        <>
          <b class="subject">
            <bdi>{subject}</bdi>
          </b>{' '}
          {tx('story.fromTo', { to: visible(to), from: visible(from) })}
        </>
      }
      actions={<Actions {...{ email, state, suppression }} />}
    >
      <div class="body">
        {children}
        <AnswerNote {...{ email, state }} />
        <nav class="tabs inner" aria-label={t('story.views')}>
          {VIEWS.map((view) => (
            <a
              key={view}
              href={`${path}${writeState(FIELDS, { tab: view === 'story' ? '' : view })}`}
              aria-current={view === tab ? 'page' : undefined}
            >
              {t(`story.tab.${view}`)}
            </a>
          ))}
        </nav>
        <div class="cols">
          <section class="story" aria-label={t(`story.tab.${tab}`)}>
            {tab === 'story' ? (
              <Story {...{ email, suppression }} />
            ) : (
              <Suspense>
                <Content email={email} view={tab as ContentView} />
              </Suspense>
            )}
          </section>
          <Aside {...{ email, state }} />
        </div>
      </div>
    </Page>
  )
}

/** `It waits for another attempt: mx.example asks this server to slow down; again at 10:12` */
function Heading({ email }: { email: EmailRecord }) {
  const state = stateOf(email)
  const answer = t(isExpired(state, email.reasonCode) ? 'answer.expired' : `answer.${state}`)
  const isTold = ['opened', 'clicked', 'complained', 'cancelled', 'sending', 'received']
  const why = isTold.includes(state) ? undefined : rowReason(email)
  if (why === undefined) return <>{answer}</>
  return <>{tx('answer.why', { answer, why: <PhraseText phrase={why} /> })}</>
}
