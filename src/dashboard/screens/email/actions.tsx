/** What a person can do with an email. A failure is told here, where the action was started. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { queryClient } from '../../api/queries.ts'
import { projectWith } from '../../api/session.ts'
import type { EmailState } from '../../logic/email-state.ts'
import { suppressionText } from '../../logic/reason.ts'
import { visible } from '../../logic/visible.ts'
import { t, tx } from '../../text/text.ts'
import { Ask } from '../../ui/ask.tsx'
import { Failed } from '../../ui/state.tsx'
import { Suppress } from '../../ui/suppress.tsx'
import { Time } from '../../ui/time.tsx'
import { useAction } from '../../ui/use-action.ts'
import { whyNot } from '../../ui/why-not.ts'
import type { EmailRecord } from './record.ts'
import type { SuppressionState } from './use-suppression.ts'

type ActionsProps = { email: EmailRecord; state: EmailState; suppression: SuppressionState }

type Asked = 'cancel' | 'suppress' | 'lift'

/** Whether the server would try the email again. */
function canRetry({ nextAttemptAt, reasonData }: EmailRecord, state: EmailState): boolean {
  if (state === 'deferred') return true
  if (state === 'waiting') return nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now()
  const { obstacle = null } = (reasonData ?? {}) as { obstacle?: unknown }
  return ['failed', 'cancelled'].includes(state) && obstacle === null
}

export function Actions({ email, state, suppression }: ActionsProps) {
  const [asked, setAsked] = useState<Asked>()
  const [done, setDone] = useState<'suppressed' | 'lifted'>()
  const action = useAction()
  const { id, projectId: project, recipientAddress: address, sourceType } = email
  const obstacle = whyNot(projectWith(project))
  const input = { params: { id }, project }
  const show = (changed: EmailRecord) =>
    queryClient.setQueryData(['GET /emails/{id}', input], changed)
  const close = () => {
    setAsked(undefined)
    action.clear()
  }
  const isListed = suppression.record !== undefined || done === 'suppressed'
  const button = (label: string, onClick: () => void) => (
    <button
      class="btn"
      type="button"
      disabled={obstacle !== undefined || action.isRunning}
      title={obstacle}
      onClick={onClick}
    >
      {label}
    </button>
  )
  if (sourceType === 'INBOUND') return null
  return (
    <div class="actions">
      <div class="row">
        {canRetry(email, state) &&
          button(
            t('action.retry'),
            () => void action.run(async () => show(await call('POST /emails/{id}/retry', input))),
          )}
        {['waiting', 'deferred', 'held', 'paused'].includes(state) &&
          button(t('action.cancel'), () => setAsked('cancel'))}
        {isListed
          ? button(t('action.lift'), () => setAsked('lift'))
          : button(t('action.suppress'), () => setAsked('suppress'))}
      </div>
      <p class="small" role="status">
        {done !== undefined && t(`action.done.${done}`)}
      </p>
      {action.error !== null && asked === undefined && (
        <Failed error={action.error} title={t('action.failed')} />
      )}
      {suppression.failure !== null && (
        <Failed error={suppression.failure} onRetry={() => void suppression.reload()} />
      )}
      {asked === 'cancel' && (
        <Ask
          title={t('action.cancel.title')}
          text={t('action.cancel.text', { to: address })}
          label={t('action.cancel.do')}
          onClose={close}
          onDone={close}
          action={action}
          write={async () => show(await call('POST /emails/{id}/cancel', input))}
        />
      )}
      {asked === 'suppress' && (
        <Suppress
          {...{ project, address }}
          onClose={close}
          onDone={() => {
            setDone('suppressed')
            close()
            void suppression.reload()
          }}
        />
      )}
      {asked === 'lift' && (
        <Ask
          title={t('action.lift.title', { to: address })}
          text={t('action.lift.text')}
          why={<Why {...{ email, suppression }} />}
          label={t('action.lift.do')}
          onClose={close}
          onDone={close}
          action={action}
          write={async () => {
            await call('DELETE /suppressions', { project, body: { emails: [address] } })
            setDone('lifted')
            void suppression.reload()
          }}
        />
      )}
    </div>
  )
}

/** The reason stands before the eyes of who lifts it, with the words of a receiver that refused the email. */
function Why({ email, suppression: { record } }: Pick<ActionsProps, 'email' | 'suppression'>) {
  const reply = email.attempts.findLast(({ result }) => result.endsWith('bounced'))?.reply
  return (
    <>
      {record !== undefined && (
        <p>
          {tx('action.lift.why', {
            at: <Time at={record.createdAt} />,
            why: t(suppressionText(record.reason)),
          })}
        </p>
      )}
      {reply?.text !== undefined && reply.text !== null && (
        <blockquote class="words">
          {reply.code} {reply.enhancedCode} {visible(reply.text)}
        </blockquote>
      )}
    </>
  )
}
