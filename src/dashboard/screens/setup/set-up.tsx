/**
 * `/app/setup`: the first run of a server in four steps. The first one needs the link that the server shows at its
 * start; without it the page says where to find it, and nothing else. The others are an operator's.
 */

import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { isOperator, needsSetUp, user } from '../../api/session.ts'
import { endSetUp, rememberStep, type SetUpStep, STEPS, stepOf } from '../../api/set-up-progress.ts'
import { setupToken } from '../../api/setup-token.ts'
import { checks as checkTexts } from '../../text/en/checks.ts'
import { door as doorTexts } from '../../text/en/door.ts'
import { first as firstTexts } from '../../text/en/first.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { setup as setupTexts } from '../../text/en/setup.ts'
import { addTexts, t, tx } from '../../text/text.ts'
import { Door } from '../../ui/door.tsx'
import { Leave } from '../../ui/leave.tsx'
import { hostName, outer } from '../../ui/link.ts'
import { AccountStep } from './account-step.tsx'
import { ChecksStep } from './checks-step.tsx'
import { ProjectStep } from './project-step.tsx'
import { ServerStep } from './server-step.tsx'

addTexts(setupTexts, checkTexts, doorTexts, firstTexts, formTexts)

export default function SetUp() {
  if (user.value !== undefined) return isOperator.value ? <Later /> : <Leave to={outer('')} />
  if (!needsSetUp.value) return <IsSetUp />
  if (setupToken.value === undefined) return <NoLink />
  return (
    <Door title={t('setup.account')}>
      <Steps current="account" />
      <AccountStep token={setupToken.value} />
    </Door>
  )
}

function NoLink() {
  return (
    <Door title={t('setup.noLink')}>
      <p>{tx('setup.noLink.text', { file: <code>setup-link</code> })}</p>
      <p>{tx('setup.noLink.renew', { command: <code>pillarbox setup-link</code> })}</p>
    </Door>
  )
}

function IsSetUp() {
  return (
    <Door title={t('setup.isSetUp')} host={hostName()}>
      <p>{t('setup.isSetUp.text')}</p>
      <p>
        <a class="btn main fill" href={outer('/login')}>
          {t('door.signIn')}
        </a>
      </p>
    </Door>
  )
}

function Later() {
  const { query, route } = useLocation()
  const step = stepOf(query.step)
  useEffect(() => rememberStep(step), [step])
  const next = STEPS[STEPS.indexOf(step) + 1]
  const goOn = () => {
    if (next !== undefined) return route(`${outer('/setup')}?step=${next}`)
    endSetUp()
    return route(outer(''))
  }
  return (
    <Door title={t(`setup.${step}`)} host={hostName()} isWide>
      <Steps current={step} />
      {step === 'server' && <ServerStep onDone={goOn} />}
      {step === 'checks' && <ChecksStep onDone={goOn} />}
      {step === 'project' && <ProjectStep onDone={goOn} />}
      <p class="small muted">
        {tx('setup.leave', {
          link: (
            <a href={outer('')} onClick={endSetUp}>
              {t('setup.leave.link')}
            </a>
          ),
        })}
      </p>
    </Door>
  )
}

function Steps({ current }: { current: SetUpStep }) {
  const at = STEPS.indexOf(current)
  return (
    <ol class="steps" aria-label={t('setup.steps')}>
      {STEPS.map((step, index) => (
        <li
          key={step}
          class={index < at ? 'past' : ''}
          aria-current={step === current ? 'step' : undefined}
        >
          {/* The account exists from the second step on, so the first one is not a link. */}
          {index > 0 && at > 0 && step !== current ? (
            <a href={`${outer('/setup')}?step=${step}`}>{t(`setup.short.${step}`)}</a>
          ) : (
            t(`setup.short.${step}`)
          )}
        </li>
      ))}
    </ol>
  )
}
