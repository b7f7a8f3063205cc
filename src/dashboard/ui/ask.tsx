/** The dialog before an act: it says what will happen, and shows the failure in its place. */
import type { ComponentChildren } from 'preact'
import { suppress as suppressTexts } from '../text/en/suppress.ts'
import { addTexts, t } from '../text/text.ts'
import { Dialog } from './dialog.tsx'
import { Failed } from './state.tsx'
import type { Action } from './use-action.ts'

addTexts(suppressTexts)

type AskProps = {
  title: string
  text: string
  why?: ComponentChildren
  label: string
  action: Action
  /** Why it cannot be done now. */
  obstacle?: string | undefined
  onClose(): void
  write(): Promise<unknown>
  /** After it was done. */
  onDone?(): void
}

export function Ask({ title, text, why, label, action, obstacle, ...acts }: AskProps) {
  const { onClose, write, onDone } = acts
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        {why}
        <p>{text}</p>
        {obstacle !== undefined && <p class="note">{obstacle}</p>}
        {action.error !== null && <Failed error={action.error} title={t('action.failed')} />}
        <p class="row">
          <button
            class="btn main"
            type="button"
            disabled={action.isRunning || obstacle !== undefined}
            aria-busy={action.isRunning}
            onClick={async () => {
              if (await action.run(write)) onDone?.()
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
