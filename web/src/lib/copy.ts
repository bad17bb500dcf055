import { toast } from './toasts.svelte'

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast.good('Copied')
  } catch {
    toast.bad('The browser does not let this page copy. Select the text instead.')
  }
}
