// A person's reason for something done by hand: people who find the traces later will look for it.
import { z } from "zod";

const reasonCharsMax = 1_000;

export const reasonField = z
  .string()
  .max(reasonCharsMax)
  .refine((text) => text.trim() !== "", "it must not be empty");
