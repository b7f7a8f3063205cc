/**
 * The first steps of a project, on the place of its overview: a sender, a mail, and its story, on one page. The page
 * notices mail that a program sends, and asks nothing about the person.
 */
import { useEffect, useState } from 'preact/hooks'
import { base } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { config, project, user } from '../../api/session.ts'
import { firstOutcome, firstSender, lookDelay, QUICK_FOR_MS } from '../../logic/onboarding.ts'
import { t } from '../../text/text.ts'
import { link } from '../../ui/link.ts'
import { putStepsAway } from '../../ui/onboarding.ts'
import { Page } from '../../ui/page.tsx'
import { Panel } from '../../ui/panel.tsx'
import { DomainStep } from './domain-step.tsx'
import { type FirstEmail, FirstMailBox, Outcome } from './first-mail.tsx'
import { SendStep } from './send-step.tsx'

const DOMAIN_MS = 10_000
/** After the mail has ended its way. */
const RESTING_MS = 15_000

export default function Onboarding() {
  const { id = '', role = 'MEMBER' } = project.value ?? {}
  const mode = config.value?.environment ?? 'direct'
  const [since, setSince] = useState(() => Date.now())
  const [isVerifying, setVerifying] = useState(true)
  const domains = useCall(
    'GET /domains/project/{projectId}',
    { params: { projectId: id } },
    { poll: isVerifying ? DOMAIN_MS : undefined },
  )
  const sender = firstSender(domains.data ?? [])
  useEffect(() => setVerifying(sender === undefined), [sender])
  const { email, error, refetch } = useNewestEmail(since, sender !== undefined)
  const looksAgain = () => {
    setSince(Date.now())
    void refetch()
  }
  const done = email !== undefined && firstOutcome(email) === 'arrived'
  return (
    <Page
      title={t('first.title')}
      text={t(`first.${mode}`)}
      actions={
        <button
          class="btn"
          type="button"
          title={t('first.away.hint')}
          onClick={() => putStepsAway(id)}
        >
          {t('first.away')}
        </button>
      }
    >
      <div class="body">
        <div class="cols">
          <section class="first">
            <Panel query={domains} rows={6}>
              {() => (
                <ol class="line">
                  <li class="good">
                    <p class="row between">
                      <b>{t(`first.signedIn.${role as 'OWNER' | 'ADMIN' | 'MEMBER'}`)}</b>
                      <span class="small muted">{user.value?.email}</span>
                    </p>
                  </li>
                  {sender === undefined ? (
                    <DomainStep />
                  ) : (
                    <li class="good">
                      <p class="row between">
                        <b>{t('first.sender', { address: sender })}</b>
                        <span class="small muted">
                          {t(mode === 'sandbox' ? 'first.sender.sandbox' : 'first.sender.verified')}
                        </span>
                      </p>
                    </li>
                  )}
                  <SendStep sender={sender} isDone={done} onSent={looksAgain} />
                  <li class={done ? 'good' : ''}>
                    <p class={done ? '' : 'muted'}>
                      {email === undefined ? (
                        <b>{t('first.read')}</b>
                      ) : (
                        <a href={link(`/emails/${email.id}`)}>
                          <b>{t('first.read')}</b>
                        </a>
                      )}
                      , {t('first.read.text')}
                    </p>
                    {email !== undefined && (
                      <p>
                        <Outcome email={email} />
                      </p>
                    )}
                  </li>
                  <li class={done ? 'next' : ''}>
                    <p class="muted">
                      <b>{t('first.real')}</b>{' '}
                      {t(mode === 'sandbox' ? 'first.real.sandbox' : 'first.real.direct')}{' '}
                      <a
                        href={`${base}/docs/guide/${mode === 'sandbox' ? 'production' : 'contacts'}`}
                      >
                        {t('first.real.link')}
                      </a>
                    </p>
                  </li>
                </ol>
              )}
            </Panel>
          </section>
          <aside class="aside">
            <FirstMailBox email={email} error={error} onRetry={looksAgain} />
          </aside>
        </div>
      </div>
    </Page>
  )
}

/** The newest email of the project: looked for every second at first, and seldom once it has ended its way. */
function useNewestEmail(since: number, isEnabled: boolean) {
  const [poll, setPoll] = useState(lookDelay(0))
  const { data, error, refetch } = useCall(
    'GET /emails',
    { query: { limit: 1 } },
    { poll, isEnabled },
  )
  const email: FirstEmail | undefined = data?.data[0]
  const isOver = email !== undefined && firstOutcome(email) !== 'waiting'
  useEffect(() => {
    if (isOver) {
      setPoll(RESTING_MS)
      return
    }
    setPoll(lookDelay(Date.now() - since))
    const left = Math.max(0, since + QUICK_FOR_MS - Date.now())
    const timer = setTimeout(() => setPoll(lookDelay(QUICK_FOR_MS)), left)
    return () => clearTimeout(timer)
  }, [since, isOver])
  return { email, error, refetch }
}
