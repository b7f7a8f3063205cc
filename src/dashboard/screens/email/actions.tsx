/** What a person can do with an email. A failure is told here, where the action was started. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { queryClient, useInput } from '../../api/queries.ts'
import { project } from '../../api/session.ts'
import type { EmailState } from '../../logic/email-state.ts'
import { suppressionText } from '../../logic/reason.ts'
import { visible } from '../../logic/visible.ts'
import { t, tx } from '../../text/text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/state.tsx'
import { Time } from '../../ui/time.tsx'
import { type Action, useAction } from '../../ui/use-action.ts'
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
  const { id, recipientAddress: address, sourceType } = email
  const isDisabled = project.value?.disabled === true
  const input = useInput({ params: { id } })
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
      disabled={isDisabled || action.isRunning}
      title={isDisabled ? t('action.disabled') : undefined}
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
      {asked === 'cancel' && (
        <Ask
          title={t('action.cancel.title')}
          text={t('action.cancel.text', { to: address })}
          label={t('action.cancel.do')}
          onClose={close}
          action={action}
          write={async () => show(await call('POST /emails/{id}/cancel', input))}
        />
      )}
      {asked === 'suppress' && (
        <Ask
          title={t('action.suppress.title', { to: address })}
          text={t('action.suppress.text')}
          label={t('action.suppress.do')}
          onClose={close}
          action={action}
          write={async () => {
            await call('POST /suppressions', { body: { email: address, reason: 'MANUAL' } })
            setDone('suppressed')
            await suppression.reload()
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
          action={action}
          write={async () => {
            await call('DELETE /suppressions', { body: { emails: [address] } })
            setDone('lifted')
            await suppression.reload()
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

type AskProps = {
  title: string
  text: string
  why?: preact.ComponentChildren
  label: string
  action: Action
  onClose(): void
  write(): Promise<unknown>
}

function Ask({ title, text, why, label, action, onClose, write }: AskProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        {why}
        <p>{text}</p>
        {action.error !== null && <Failed error={action.error} title={t('action.failed')} />}
        <p class="row">
          <button
            class="btn main"
            type="button"
            disabled={action.isRunning}
            aria-busy={action.isRunning}
            onClick={async () => {
              if (await action.run(write)) onClose()
            }}
          >
            {label}
          </button>
          <button class="btn" type="button" onClick={onClose}>
            {t('dialog.close')}
          </button>
        </p>
      </div>
    </Dialog>
  )
}
