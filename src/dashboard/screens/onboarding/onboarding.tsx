/**
 * The first steps of a project, on the place of its overview: a sender, a mail, and its story, on one page. The page
 * notices mail that a program sends, and asks nothing about the person.
 */
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Answer } from '../../api/client.ts'
import { failureOf, useCall } from '../../api/queries.ts'
import { config } from '../../api/session.ts'
import { firstOutcome, firstSender, lookDelay } from '../../logic/onboarding.ts'
import { first as firstTexts } from '../../text/en/first.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { addTexts, t } from '../../text/text.ts'
import { lastInput } from '../../ui/last-input.ts'
import { lazy } from '../../ui/lazy.tsx'
import { putStepsAway } from '../../ui/onboarding.ts'
import { Page } from '../../ui/page.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Suspense } from '../../ui/suspense.tsx'
import { useProject } from '../../ui/use-project.ts'
import { type FirstEmail, FirstMailBox } from './first-mail.tsx'
import { SendStep } from './send-step.tsx'
import { ReadStep, RealStep, SenderStep, SignedInStep } from './steps.tsx'

addTexts(firstTexts, formTexts)

const DomainStep = lazy(() => import('./domain-step.tsx'))

/** The page that shows the records of a domain looks for them by itself, and tells when they are there. */
const DOMAINS_MS = 30_000

export default function Onboarding() {
  const project = useProject()
  const id = project?.id ?? ''
  const [since, setSince] = useState(() => Date.now())
  const { sender, domains } = useSender(id)
  const { email, error, asOf, refetch } = useNewestEmail(since, sender !== undefined)
  const isDone = email !== undefined && firstOutcome(email) === 'arrived'
  const lookAgain = () => {
    setSince(Date.now())
    void refetch()
  }
  if (project === undefined) return null
  return (
    <Page
      title={t('first.title')}
      text={t(`first.${config.value?.environment ?? 'direct'}`)}
      actions={<AwayButton projectId={id} />}
    >
      <div class="body">
        <div class="cols">
          <section class="first">
            <Panel query={domains} rows={6}>
              {() => (
                <ol class="line">
                  <SignedInStep />
                  {sender === undefined ? (
                    <Suspense>
                      <DomainStep project={project} />
                    </Suspense>
                  ) : (
                    <SenderStep sender={sender} />
                  )}
                  <SendStep project={project} sender={sender} isDone={isDone} onSent={lookAgain} />
                  <ReadStep email={email} isDone={isDone} />
                  <RealStep isNext={isDone} />
                </ol>
              )}
            </Panel>
          </section>
          <aside class="aside">
            <FirstMailBox {...{ email, error, asOf }} onRetry={lookAgain} />
          </aside>
        </div>
      </div>
    </Page>
  )
}

function AwayButton({ projectId }: { projectId: string }) {
  return (
    <button
      class="btn"
      type="button"
      title={t('first.away.hint')}
      onClick={() => putStepsAway(projectId)}
    >
      {t('first.away')}
    </button>
  )
}

/** The sender of the first mail; looked for until there is one. */
function useSender(projectId: string) {
  const [isLooking, setLooking] = useState(true)
  const domains = useCall(
    'GET /domains/project/{projectId}',
    { params: { projectId } },
    { poll: isLooking ? DOMAINS_MS : undefined },
  )
  const sender = firstSender(domains.data ?? [])
  useEffect(() => setLooking(sender === undefined), [sender])
  return { sender, domains }
}

/** The newest email of the project: looked for every second at first, and seldom once it has ended its way. */
function useNewestEmail(since: number, isEnabled: boolean) {
  const poll = useCallback(
    (known: Answer<'GET /emails'> | undefined) => {
      const newest = known?.data[0]
      return lookDelay({
        ...{ sinceStartMs: Date.now() - since, sinceInputMs: Date.now() - lastInput() },
        isOver: newest !== undefined && firstOutcome(newest) !== 'waiting',
      })
    },
    [since],
  )
  const query = useCall('GET /emails', { query: { limit: 1 } }, { poll, isEnabled })
  const { data, dataUpdatedAt: asOf, refetch } = query
  const email: FirstEmail | undefined = data?.data[0]
  return { email, error: failureOf(query), asOf, refetch }
}
