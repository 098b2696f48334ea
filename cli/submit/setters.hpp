// What each option of sbatch, srun and salloc does to the request. One function an option, named after it.
#pragma once

#include "cli/submit/options.hpp"

namespace spur::cli::submit::set {

Set array(SubmitOptions& options, const char* value);
Set begin(SubmitOptions& options, const char* value);
Set clusters(SubmitOptions& options, const char* value);
Set constraint(SubmitOptions& options, const char* value);
Set cpus_per_task(SubmitOptions& options, const char* value);
Set deadline(SubmitOptions& options, const char* value);
Set acctg_freq(SubmitOptions& options, const char* value);
Set delay_boot(SubmitOptions& options, const char* value);
Set distribution(SubmitOptions& options, const char* value);
Set cpu_bind(SubmitOptions& options, const char* value);
Set mem_bind(SubmitOptions& options, const char* value);
Set gpu_bind(SubmitOptions& options, const char* value);
Set exclude(SubmitOptions& options, const char* value);
Set exclusive(SubmitOptions& options, const char* value);
Set extra_node_info(SubmitOptions& options, const char* value);
Set get_user_env(SubmitOptions& options, const char* value);
Set gid(SubmitOptions& options, const char* value);
Set uid(SubmitOptions& options, const char* value);
Set gpus(SubmitOptions& options, const char* value);
Set gpus_per_node(SubmitOptions& options, const char* value);
Set gpus_per_socket(SubmitOptions& options, const char* value);
Set gpus_per_task(SubmitOptions& options, const char* value);
Set gres(SubmitOptions& options, const char* value);
Set gres_flags(SubmitOptions& options, const char* value);
Set hint(SubmitOptions& options, const char* value);
Set immediate(SubmitOptions& options, const char* value);
Set job_id(SubmitOptions& options, const char* value);
Set kill_command(SubmitOptions& options, const char* value);
Set kill_on_bad_exit(SubmitOptions& options, const char* value);
Set kill_on_invalid_dep(SubmitOptions& options, const char* value);
Set mail_type(SubmitOptions& options, const char* value);
Set mem(SubmitOptions& options, const char* value);
Set mem_per_cpu(SubmitOptions& options, const char* value);
Set mem_per_gpu(SubmitOptions& options, const char* value);
Set mpi(SubmitOptions& options, const char* value);
Set nice(SubmitOptions& options, const char* value);
Set no_kill(SubmitOptions& options, const char* value);
Set node_file(SubmitOptions& options, const char* value);
Set node_list(SubmitOptions& options, const char* value);
Set nodes(SubmitOptions& options, const char* value);
Set open_mode(SubmitOptions& options, const char* value);
Set partition(SubmitOptions& options, const char* value);
Set priority(SubmitOptions& options, const char* value);
Set profile(SubmitOptions& options, const char* value);
Set propagate(SubmitOptions& options, const char* value);
Set pty(SubmitOptions& options, const char* value);
Set signal(SubmitOptions& options, const char* value);
Set switches(SubmitOptions& options, const char* value);
Set switches_wait(SubmitOptions& options, const char* value);
Set time(SubmitOptions& options, const char* value);
Set time_min(SubmitOptions& options, const char* value);
Set tmp(SubmitOptions& options, const char* value);
Set verbose_variable(SubmitOptions& options, const char* value);
Set wait_all_nodes(SubmitOptions& options, const char* value);
Set wait_seconds(SubmitOptions& options, const char* value);

}  // namespace spur::cli::submit::set
